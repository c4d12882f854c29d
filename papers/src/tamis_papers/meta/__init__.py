"""The experiments of Krupka, Navot and Tishby (2008)."""
