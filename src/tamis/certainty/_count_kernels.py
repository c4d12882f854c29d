"""Loops that count how often permuted scores reach those of the true order."""

from tamis._runtime.compilation import kernel


@kernel
def count_step_down(statistic, least, best, adjusted, single):
    """Take in columns, worst first: counts of one column alone, and of the best so far."""
    for j in range(statistic.shape[0]):
        line, own = statistic[j], least[j]
        alone = 0
        together = 0
        for q in range(line.shape[0]):
            best[q] = max(best[q], line[q])
            alone += line[q] >= own
            together += best[q] >= own
        single[j] += alone
        adjusted[j] += together


@kernel
def count_until(statistic, least, most, hits, tries):
    """Go on counting for every column until it has `most` hits; `tries` counts the orders."""
    for j in range(statistic.shape[0]):
        line, own = statistic[j], least[j]
        count = 0
        for q in range(line.shape[0]):
            count += line[q] >= own
        if hits[j] + count < most:
            hits[j] += count
            tries[j] += line.shape[0]
            continue
        for q in range(line.shape[0]):
            tries[j] += 1
            hits[j] += line[q] >= own
            if hits[j] == most:
                break
