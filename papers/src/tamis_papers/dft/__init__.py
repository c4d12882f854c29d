"""Tables and figures of the DFT/RFT paper (Yang, Wang, Fu and Kuo 2022)."""
