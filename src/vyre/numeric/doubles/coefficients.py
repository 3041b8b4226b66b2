"""Constants of the functions in doubles, by `tools/make_double_coefficients.py`. Not for editing."""

# 1 / log of 2 to this base, in 1 parts
EXP_PER_OCTAVE = (float.fromhex("0x1.71547652b82fep+0"),)

# the logarithm of 2 to this base, in 2 parts
EXP_OCTAVE = (
    float.fromhex("0x1.62e42fefa39efp-1"),
    float.fromhex("0x1.abc9e3b39803fp-56"),
)

# (b^x - 1 - x log b) / x^2; error 2^-47.0
EXP_SERIES = (
    float.fromhex("0x1.0000000000000p-1"),
    float.fromhex("0x1.5555555553b62p-3"),
    float.fromhex("0x1.55555555546d8p-5"),
    float.fromhex("0x1.1111111c4e792p-7"),
    float.fromhex("0x1.6c16c175dbd00p-10"),
    float.fromhex("0x1.a019ad80def90p-13"),
    float.fromhex("0x1.a019c0b69581cp-16"),
    float.fromhex("0x1.72c75c765c175p-19"),
    float.fromhex("0x1.288ae2d208744p-22"),
)

# the natural logarithm of the base, in 1 parts
EXP2_SLOPE = (float.fromhex("0x1.62e42fefa39efp-1"),)

# (b^x - 1 - x log b) / x^2; error 2^-48.0
EXP2_SERIES = (
    float.fromhex("0x1.ebfbdff82c58fp-3"),
    float.fromhex("0x1.c6b08d7047e2fp-5"),
    float.fromhex("0x1.3b2ab6fba4116p-7"),
    float.fromhex("0x1.5d87fe8709979p-10"),
    float.fromhex("0x1.4309130117845p-13"),
    float.fromhex("0x1.ffcb94e0a1651p-17"),
    float.fromhex("0x1.62bfeae2f8eeap-20"),
    float.fromhex("0x1.b638c74572f67p-24"),
    float.fromhex("0x1.e5df24c23a183p-28"),
)

# 1 / log of 2 to this base, in 1 parts
EXP10_PER_OCTAVE = (float.fromhex("0x1.a934f0979a371p+1"),)

# the logarithm of 2 to this base, in 2 parts
EXP10_OCTAVE = (
    float.fromhex("0x1.34413509f79ffp-2"),
    float.fromhex("-0x1.9dc1da994fd21p-59"),
)

# the natural logarithm of the base, in 1 parts
EXP10_SLOPE = (float.fromhex("0x1.26bb1bbb55516p+1"),)

# (b^x - 1 - x log b) / x^2; error 2^-44.6
EXP10_SERIES = (
    float.fromhex("0x1.53524c73cea69p+1"),
    float.fromhex("0x1.0470591de18d8p+1"),
    float.fromhex("0x1.2bd7609fd8c0ap+0"),
    float.fromhex("0x1.1429ffdd32e2ep-1"),
    float.fromhex("0x1.a7ed708fdca78p-3"),
    float.fromhex("0x1.16e4a7611ccf0p-4"),
    float.fromhex("0x1.41167e48cb188p-6"),
    float.fromhex("0x1.4966e24c3c62fp-8"),
    float.fromhex("0x1.2f4edb7fa59d7p-10"),
)

# a factor of about sqrt(1/2), and minus its logarithm
LOG_HALF = (
    float.fromhex("0x1.6a0ec2ec8de68p-1"),
    float.fromhex("0x1.62d6700000000p-2"),
)

# the logarithm of 2, in 1 parts
LOG_OF_2 = (float.fromhex("0x1.62e42fefa39efp-1"),)

# (log(1 + x) - x / log b) / x^2; error 2^-44.9
LOG_SERIES = (
    float.fromhex("-0x1.ffffffffffe26p-2"),
    float.fromhex("0x1.555555555545bp-2"),
    float.fromhex("-0x1.0000000117de4p-2"),
    float.fromhex("0x1.9999999b5a7b5p-3"),
    float.fromhex("-0x1.555551fe61382p-3"),
    float.fromhex("0x1.249246441d4d4p-3"),
    float.fromhex("-0x1.0001dc9ecece5p-3"),
    float.fromhex("0x1.c71fc22ff16a8p-4"),
    float.fromhex("-0x1.98aa3e59e843cp-4"),
    float.fromhex("0x1.7383a9d363b0fp-4"),
    float.fromhex("-0x1.70cd5a9f22f58p-4"),
    float.fromhex("0x1.5467d074aa2efp-4"),
)

# a factor of about sqrt(1/2), and minus its logarithm
LOG2_HALF = (
    float.fromhex("0x1.6a2259330c27fp-1"),
    float.fromhex("0x1.ff9c400000000p-2"),
)

# 1 / log of the base, in 1 parts
LOG2_SLOPE = (float.fromhex("0x1.71547652b82fep+0"),)

# (log(1 + x) - x / log b) / x^2; error 2^-48.0
LOG2_SERIES = (
    float.fromhex("-0x1.71547652b82fep-1"),
    float.fromhex("0x1.ec709dc39f3a8p-2"),
    float.fromhex("-0x1.71547652b778cp-2"),
    float.fromhex("0x1.2776c512b8c2fp-2"),
    float.fromhex("-0x1.ec709dc9ce6adp-3"),
    float.fromhex("0x1.a6175acfbde35p-3"),
    float.fromhex("-0x1.71546f7fcbfc4p-3"),
    float.fromhex("0x1.484e96e5c2a10p-3"),
    float.fromhex("-0x1.2779ea00df52cp-3"),
    float.fromhex("0x1.0bd78f5b9882ap-3"),
    float.fromhex("-0x1.eb0cbac16068cp-4"),
    float.fromhex("0x1.eec80772f4a44p-4"),
    float.fromhex("-0x1.cb581d507f630p-4"),
)

# (log(1 + x) - x / log b) / x^2, nudged; error 2^-39.0
LOG2_SHORT = (
    float.fromhex("-0x1.71547652ba315p-1"),
    float.fromhex("0x1.ec709dc42fda2p-2"),
    float.fromhex("-0x1.7154765295fb8p-2"),
    float.fromhex("0x1.2776c3b23bbd7p-2"),
    float.fromhex("-0x1.ec709b54b11c1p-3"),
    float.fromhex("0x1.a6195c06cb5c3p-3"),
    float.fromhex("-0x1.715631024c68cp-3"),
    float.fromhex("0x1.47b43e32c7401p-3"),
    float.fromhex("-0x1.26ef32f6cd5b9p-3"),
    float.fromhex("0x1.201aa9c70b11cp-3"),
    float.fromhex("-0x1.082d38eda5b83p-3"),
)

# a factor of about sqrt(1/2), and minus its logarithm
LOG10_HALF = (
    float.fromhex("0x1.69cd74d4bcf35p-1"),
    float.fromhex("0x1.34d5c00000000p-3"),
)

# 1 / log of the base, in 1 parts
LOG10_SLOPE = (float.fromhex("0x1.bcb7b1526e50ep-2"),)

# the logarithm of 2, in 1 parts
LOG10_OF_2 = (float.fromhex("0x1.34413509f79ffp-2"),)

# (log(1 + x) - x / log b) / x^2; error 2^-49.7
LOG10_SERIES = (
    float.fromhex("-0x1.bcb7b1526e50ep-3"),
    float.fromhex("0x1.287a7636f3989p-3"),
    float.fromhex("-0x1.bcb7b1526d747p-4"),
    float.fromhex("0x1.63c62779a7d16p-4"),
    float.fromhex("-0x1.287a763aacc54p-4"),
    float.fromhex("0x1.fc3f9ca3441c2p-5"),
    float.fromhex("-0x1.bcb7a91aed2adp-5"),
    float.fromhex("0x1.8b522d85cc11fp-5"),
    float.fromhex("-0x1.63c9f0b53572ep-5"),
    float.fromhex("0x1.428391b3a8153p-5"),
    float.fromhex("-0x1.27a432546a182p-5"),
    float.fromhex("0x1.29e358216fd87p-5"),
    float.fromhex("-0x1.148d81e7b5979p-5"),
)

# pi, in 2 parts
PI = (
    float.fromhex("0x1.921fb54442d18p+1"),
    float.fromhex("0x1.1a62633145c07p-53"),
)

# half pi, in 2 parts
HALF_PI = (
    float.fromhex("0x1.921fb54442d18p+0"),
    float.fromhex("0x1.1a62633145c07p-54"),
)

# quarter pi, in 2 parts
QUARTER_PI = (
    float.fromhex("0x1.921fb54442d18p-1"),
    float.fromhex("0x1.1a62633145c07p-55"),
)

# 1 / pi, in 1 parts
PER_PI = (float.fromhex("0x1.45f306dc9c883p-2"),)

# 2 / pi, in 1 parts
PER_HALF_PI = (float.fromhex("0x1.45f306dc9c883p-1"),)

# (sin(y) / y - 1) / x for y = sqrt(x); error 2^-56.6
SINE = (
    float.fromhex("-0x1.5555555555555p-3"),
    float.fromhex("0x1.1111111111111p-7"),
    float.fromhex("-0x1.a01a01a01a00dp-13"),
    float.fromhex("0x1.71de3a556b9a2p-19"),
    float.fromhex("-0x1.ae64567e7222cp-26"),
    float.fromhex("0x1.612460b627b64p-33"),
    float.fromhex("-0x1.ae7ee3642bb79p-41"),
    float.fromhex("0x1.9507ed06adab1p-49"),
    float.fromhex("-0x1.275d3d0997bcfp-57"),
)

# (sin(y) / y - 1) / x for y = sqrt(x); error 2^-56.6
SINE_OF_LESS = (
    float.fromhex("-0x1.5555555555555p-3"),
    float.fromhex("0x1.1111111111110p-7"),
    float.fromhex("-0x1.a01a01a01992fp-13"),
    float.fromhex("0x1.71de3a545f89dp-19"),
    float.fromhex("-0x1.ae645410f4637p-26"),
    float.fromhex("0x1.61217d9b2ae8ap-33"),
    float.fromhex("-0x1.ab16fafffdbe1p-41"),
)

# (cos(y) - 1) / x for y = sqrt(x); error 2^-59.3
COSINE = (
    float.fromhex("-0x1.0000000000000p-1"),
    float.fromhex("0x1.5555555555555p-5"),
    float.fromhex("-0x1.6c16c16c16c14p-10"),
    float.fromhex("0x1.a01a01a019590p-16"),
    float.fromhex("-0x1.27e4fb767dad2p-22"),
    float.fromhex("0x1.1eed8d2fec7e9p-29"),
    float.fromhex("-0x1.9393d29b0d830p-37"),
    float.fromhex("0x1.ab0927b1659f6p-45"),
)

# (atan(y) / y - 1) / x for y = sqrt(x) up to tan(pi / 8); error 2^-55.6
ARC_TANGENT = (
    float.fromhex("-0x1.5555555555555p-2"),
    float.fromhex("0x1.9999999999952p-3"),
    float.fromhex("-0x1.249249248d73ep-3"),
    float.fromhex("0x1.c71c71c2fc570p-4"),
    float.fromhex("-0x1.745d165c5385ap-4"),
    float.fromhex("0x1.3b1392aae46b5p-4"),
    float.fromhex("-0x1.110e84be82b17p-4"),
    float.fromhex("0x1.e199c7f39bbf5p-5"),
    float.fromhex("-0x1.ac7865ba5a1e3p-5"),
    float.fromhex("0x1.74d3e4c62876ap-5"),
    float.fromhex("-0x1.1b1a2f91f732ap-5"),
    float.fromhex("0x1.0a9ad7117784dp-6"),
)

# (asin(y) / y - 1) / x for y = sqrt(x); error 2^-56.4
ARC_SINE = (
    float.fromhex("0x1.5555555555555p-3"),
    float.fromhex("0x1.3333333333389p-4"),
    float.fromhex("0x1.6db6db6dabf85p-5"),
    float.fromhex("0x1.f1c71c7a6e8c0p-6"),
    float.fromhex("0x1.6e8ba11e95dcep-6"),
    float.fromhex("0x1.1c4efd7bcb13ep-6"),
    float.fromhex("0x1.c9909708be727p-7"),
    float.fromhex("0x1.7b039141a4194p-7"),
    float.fromhex("0x1.3b40d5a2f8f99p-7"),
    float.fromhex("0x1.319644ba18014p-7"),
    float.fromhex("0x1.8bef3c456f51dp-9"),
    float.fromhex("0x1.415eaf89266cdp-6"),
    float.fromhex("-0x1.3cb11bd0e5713p-6"),
    float.fromhex("0x1.e615994bb5f2fp-6"),
)
