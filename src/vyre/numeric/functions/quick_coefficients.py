"""Constants of the quick exponentials, from `lab/functions/coefficients.py`. Not for editing."""

# a centre near 2^(1/16), times 2^(i/8), in units of 2^-34
QUICK_TABLE = (
    0x42C4FE653,
    0x48D00AB5F,
    0x4F671C196,
    0x5696DED12,
    0x5E6D24C02,
    0x66F8FFFE2,
    0x704ADFD2C,
    0x7A74B0504,
)

# 8 log2(e), in units of 2^-26
QUICK_INDEX_E = 0x2E2A8ECA

# 1/8 over that logarithm, in units of 2^-51
QUICK_STEP_E = 0xB17217F7D1CF

# where the index 0 has its centre, negated, in units of 2^-51
QUICK_START_E = 0x2C5719D3EFD04EF

# 8 log2(2), in units of 2^-26
QUICK_INDEX_2 = 0x20000000

# 1/8 over that logarithm, in units of 2^-50
QUICK_STEP_2 = 0x800000000000

# where the index 0 has its centre, negated, in units of 2^-50
QUICK_START_2 = 0x1FFC16A6B7F5671

# 8 log2(10), in units of 2^-26
QUICK_INDEX_10 = 0x6A4D3C26

# 1/8 over that logarithm, in units of 2^-52
QUICK_STEP_10 = 0x9A209A84FBD0

# where the index 0 has its centre, negated, in units of 2^-52
QUICK_START_10 = 0x268370E2C5257A9

# log(2), in units of 2^-32
QUICK_SCALE_2 = 0xB17217F8

# log(10), in units of 2^-30
QUICK_SCALE_10 = 0x935D8DDE

# (exp(x) - 1 - x) / x^2, by degree, in units of 2^-29, 2^-25, 2^-35 and 2^-16
QUICK_SERIES = (
    0x10000000,
    0x00555555,
    0x5556B670,
    0x00000222,
)
