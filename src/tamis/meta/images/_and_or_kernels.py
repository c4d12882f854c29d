"""Loops of AND/OR features: packing of pixels, the features themselves, counts, random shapes."""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Words of a block: 1,024 images. The pixels that a feature looks at stay in the first cache.
BLOCK = 16

ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)

# Moves of a shape per input once its scatter is right, and most moves on the way there.
MOVES_PER_INPUT = 24
MOST_MOVES = 1000


@kernel
def pack_pixels(first, last, binary, width, padded_width, pixels):
    """Bits of `binary` (n_images, n_pixels) to words of `pixels` (n_blocks, n_padded, BLOCK)."""
    n_images, n_pixels = binary.shape
    words = np.empty(n_pixels, np.uint64)
    for word in range(first, last):
        start, stop = min(word * 64, n_images), min(word * 64 + 64, n_images)
        words[:] = np.uint64(0)
        for image in range(start, stop):
            bit = np.uint64(image - start)
            for pixel in range(n_pixels):
                words[pixel] |= np.uint64(binary[image, pixel]) << bit
        for pixel in range(n_pixels):
            target = pixel // width * padded_width + pixel % width
            pixels[word // BLOCK, target, word % BLOCK] = words[pixel]


@kernel
def measure_features(first, last, pixels, inputs, flip, n_inputs, shift, stride, n_images, out):
    """OR over shifts of the AND of the inputs, for the features `first` to `last`.

    `pixels` is (n_blocks, n_padded * BLOCK). `inputs` (n_features, 8) are pixels, and a shift by
    one row of the image is `stride` of them; `flip` is all ones for a negated input. The last
    input is repeated up to eight, which changes no AND. `out` is (n_features, n_blocks, BLOCK).

    Shifts to the right are neighbours in memory: for a shift down, the AND of all of them is one
    pass over ``shift * BLOCK`` words, which become vector instructions. They are ORed over the
    shifts down in `wide`, and over those to the right at the end. Unsigned indices spare a test.
    """
    wide = np.empty(max(1, shift.max()) * BLOCK, np.uint64)
    block_words = np.uint64(BLOCK)
    for block in range(pixels.shape[0]):
        for feature in range(first, last):
            n, size = n_inputs[feature], shift[feature]
            at, x = inputs[feature], flip[feature]
            x0, x1, x2, x3, x4, x5, x6, x7 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
            for i in range(size * BLOCK):
                wide[i] = np.uint64(0)
            for down in range(size):
                move = np.uint64(down * stride)
                p0, p1 = (at[0] + move) * block_words, (at[1] + move) * block_words
                p2, p3 = (at[2] + move) * block_words, (at[3] + move) * block_words
                p4, p5 = (at[4] + move) * block_words, (at[5] + move) * block_words
                p6, p7 = (at[6] + move) * block_words, (at[7] + move) * block_words
                if n <= 2:
                    for i in range(size * BLOCK):
                        u = np.uint64(i)
                        every = pixels[block, p0 + u] ^ x0
                        wide[i] |= every & (pixels[block, p1 + u] ^ x1)
                elif n <= 4:
                    for i in range(size * BLOCK):
                        u = np.uint64(i)
                        every = (pixels[block, p0 + u] ^ x0) & (pixels[block, p1 + u] ^ x1)
                        every &= pixels[block, p2 + u] ^ x2
                        wide[i] |= every & (pixels[block, p3 + u] ^ x3)
                elif n <= 6:
                    for i in range(size * BLOCK):
                        u = np.uint64(i)
                        every = (pixels[block, p0 + u] ^ x0) & (pixels[block, p1 + u] ^ x1)
                        every &= (pixels[block, p2 + u] ^ x2) & (pixels[block, p3 + u] ^ x3)
                        every &= pixels[block, p4 + u] ^ x4
                        wide[i] |= every & (pixels[block, p5 + u] ^ x5)
                else:
                    for i in range(size * BLOCK):
                        u = np.uint64(i)
                        every = (pixels[block, p0 + u] ^ x0) & (pixels[block, p1 + u] ^ x1)
                        every &= (pixels[block, p2 + u] ^ x2) & (pixels[block, p3 + u] ^ x3)
                        every &= (pixels[block, p4 + u] ^ x4) & (pixels[block, p5 + u] ^ x5)
                        every &= pixels[block, p6 + u] ^ x6
                        wide[i] |= every & (pixels[block, p7 + u] ^ x7)
            for word in range(BLOCK):
                out[feature, block, word] = wide[word]
            for right in range(1, size):
                for word in range(BLOCK):
                    out[feature, block, word] |= wide[right * BLOCK + word]
    clear_unused(n_images, first, last, out)


@inline
def clear_unused(n_images, first, last, out):
    """Set the bits beyond the last image to 0; a negated input has set them."""
    for word in range(n_images // 64, out.shape[1] * BLOCK):
        left = max(n_images - word * 64, 0)
        used = ALL_ONES >> np.uint64(64 - left) if left else np.uint64(0)
        for feature in range(first, last):
            out[feature, word // BLOCK, word % BLOCK] &= used


@kernel
def count_bits(first, last, words, masks, out):
    """Number of bits that rows have in common with each mask; `out` is (n_masks, n_rows)."""
    for row in range(first, last):
        line = words[row]
        for mask in range(masks.shape[0]):
            total = np.uint64(0)
            for word in range(line.size):
                total += ones(line[word] & masks[mask, word])
            out[mask, row] = total


@inline
def ones(word):
    """Number of bits that are set, by sums of neighbours; compilers know the pattern."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    low = word & np.uint64(0x3333333333333333)
    word = low + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def draw_shapes(first, last, seeds, n_inputs, scatter, tolerance, height, width, rows, columns):
    """Random sets of pixels with a given scatter, uniform among all that fit into the image.

    A Metropolis chain: one pixel moves at a time. While the scatter is outside of the tolerance
    only moves that bring it no further away are made; inside of it, every set is visited in
    proportion to the number of places it has in the image.
    """
    for feature in range(first, last):
        state = seeds[feature]
        n, target = n_inputs[feature], scatter[feature]
        row, column = rows[feature], columns[feature]
        state = start_shape(state, n, target, height, width, row, column)
        gap = max(abs(mean_distance(row, column, n) - target) - tolerance, 0.0)
        places = n_places(row, column, n, height, width)
        left = MOVES_PER_INPUT * n
        reach = 3.0 * target + 1.0
        for _ in range(MOST_MOVES if n > 1 else 0):
            if gap == 0.0:
                left -= 1
            if left < 0:
                break
            state, moved = next_below(state, n)
            old_row, old_column = row[moved], column[moved]
            state, near = next_below(state, 2)
            if near == 1:
                state, down = next_below(state, 5)
                state, right = next_below(state, 5)
                new_row, new_column = old_row + down - 2, old_column + right - 2
            else:
                state, new_row, inside = far_value(state, row, n, moved, reach)
                state, new_column, also = far_value(state, column, n, moved, reach)
                if not (inside and also):
                    continue
            if taken(row, column, n, new_row, new_column):
                continue
            row[moved], column[moved] = new_row, new_column
            new_places = n_places(row, column, n, height, width)
            new_gap = max(abs(mean_distance(row, column, n) - target) - tolerance, 0.0)
            state, chance = next_below(state, places)
            if new_places > 0 and (new_gap < gap or (new_gap == gap and chance < new_places)):
                gap, places = new_gap, new_places
            else:
                row[moved], column[moved] = old_row, old_column


@inline
def start_shape(state, n, target, height, width, row, column):
    """Different random pixels of a box about as large as the scatter asks for."""
    side = int(2.5 * target) + 2
    box_height, box_width = min(side, height), min(side, width)
    if box_height * box_width < n:
        box_height, box_width = height, width
    for i in range(n):
        while True:
            state, new_row = next_below(state, box_height)
            state, new_column = next_below(state, box_width)
            if not taken(row, column, i, new_row, new_column):
                break
        row[i], column[i] = new_row, new_column
    return state


@inline
def far_value(state, values, n, moved, reach):
    """Random coordinate around the mean of the other inputs; whether the old one was as near."""
    # The mean is that of the others, so the way back is as likely as the way there.
    total = 0
    for i in range(n):
        if i != moved:
            total += values[i]
    centre = total / (n - 1)
    low, high = int(np.ceil(centre - reach)), int(np.floor(centre + reach))
    state, step = next_below(state, high - low + 1)
    return state, low + step, low <= values[moved] <= high


@inline
def taken(row, column, n, new_row, new_column):
    """Whether one of the first n pixels is this one."""
    found = False
    for i in range(n):
        found |= row[i] == new_row and column[i] == new_column
    return found


@inline
def mean_distance(row, column, n):
    """Scatter: mean distance of the pixels from their centre of gravity."""
    centre_row = centre_column = total = 0.0
    for i in range(n):
        centre_row += row[i]
        centre_column += column[i]
    centre_row, centre_column = centre_row / n, centre_column / n
    for i in range(n):
        total += np.sqrt((row[i] - centre_row) ** 2 + (column[i] - centre_column) ** 2)
    return total / n


@inline
def n_places(row, column, n, height, width):
    """Number of places that the shape has in the image, 0 if it is too large."""
    top, bottom, left, right = row[0], row[0], column[0], column[0]
    for i in range(1, n):
        top, bottom = min(top, row[i]), max(bottom, row[i])
        left, right = min(left, column[i]), max(right, column[i])
    return max(height - (bottom - top), 0) * max(width - (right - left), 0)


@inline
def next_below(state, limit):
    """Next state of the splitmix64 generator and a whole number below the limit."""
    state += np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return state, np.int64(((mixed >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))
