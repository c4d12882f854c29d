"""AND/OR features as section 6.2 of Krupka, Navot and Tishby (2008) prints them, one by one."""

import math


def value(image, inputs, shift):
    """Value of one feature on one binary image (list of rows); background outside of it."""
    height, width = len(image), len(image[0])
    for down in range(shift):
        for right in range(shift):
            every = True
            for row, column, positive in inputs:
                y, x = row + down, column + right
                ink = bool(image[y][x]) if y < height and x < width else False
                every = every and ink == bool(positive)
            if every:
                return 1
    return 0


def scatter(inputs):
    """Mean distance from the centre of gravity."""
    y = sum(row for row, _, _ in inputs) / len(inputs)
    x = sum(column for _, column, _ in inputs) / len(inputs)
    return sum(math.hypot(row - y, column - x) for row, column, _ in inputs) / len(inputs)


def entropy(labels):
    """Entropy in bits."""
    counts = [labels.count(label) for label in set(labels)]
    return -sum(count / len(labels) * math.log2(count / len(labels)) for count in counts)


def gain(values, labels):
    """Information gain of a column in bits."""
    inside = 0.0
    for outcome in set(values):
        part = [label for v, label in zip(values, labels, strict=True) if v == outcome]
        inside += len(part) / len(labels) * entropy(part)
    return entropy(labels) - inside
