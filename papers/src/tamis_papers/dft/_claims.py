"""The claim that both of the DFT paper's tables of elbows share."""

from __future__ import annotations

# The paper reads its late elbows by eye, as 100 and 150 of 400: round numbers of fifty.
LATE_ELBOWS, READ_TO, OF_ALL = (100, 150), 50, 400


def is_near_share(share: float) -> bool:
    """Whether a late elbow rounds to one of the paper's two, or lies between them."""
    low, high = min(LATE_ELBOWS) - READ_TO / 2, max(LATE_ELBOWS) + READ_TO / 2
    return low <= share * OF_ALL <= high


def share_claim(method: str, shares: dict[str, float]) -> tuple[str, bool | None, str]:
    """The claim on the share of the features at the late elbow, by condition."""
    near = [is_near_share(share) for share in shares.values()]
    words = ", ".join(f"{share:.1%} ({name})" for name, share in shares.items())
    evidence = (
        f"our late elbows of {method} keep {words}; the paper's 25 and 37.5 % are read by eye to "
        "50 of 400 features, so 18.75 to 43.75 % is taken as that"
    )
    return "share", True if all(near) else None if any(near) else False, evidence
