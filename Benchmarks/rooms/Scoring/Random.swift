import Glibc

/// SplitMix64: small, the same everywhere, and good enough for simulations.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// 0 … 1, without 1.
    mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func below(_ count: Int) -> Int { Int(uniform() * Double(count)) }

    /// Mean 0, standard deviation 1.
    mutating func normal() -> Double {
        sqrt(-2 * log(1 - uniform())) * cos(2 * .pi * uniform())
    }

    mutating func exponential(mean: Double) -> Double { -mean * log(1 - uniform()) }
}
