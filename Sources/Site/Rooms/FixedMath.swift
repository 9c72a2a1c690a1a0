/// Exponential and logarithm by IEEE additions, multiplications and divisions in a fixed order.
///
/// A C library's `expf` and `logf` may differ in the last bit between processors and versions, so a recording that is
/// replayed elsewhere could decide differently. Both functions here give the same bits everywhere.
package enum FixedMath {
    private static let ln2: Float = 0.693_147_2
    /// `ln2` in two parts. The high part has few bits, so its products with small integers are exact.
    private static let ln2High: Float = 0.693_359_375
    private static let ln2Low: Float = -2.121_944_4e-4
    /// 3 · 2^22.
    private static let large: Float = 12_582_912

    /// e to the power of `x`, relative error below 3e-7; 0 for NaN and for `x` up to -87, e^88 for `x` above 88.
    package static func exp(_ x: Float) -> Float {
        guard x > -87 else { return 0 }
        let x = min(x, 88)
        // The last bit of such a large number is 1, so that the sum is rounded to a whole number, and its bits count from there. A call of
        // `rounded` costs more than all the rest.
        let large = x / ln2 + Self.large
        let exponent = large - Self.large
        let r = (x - exponent * ln2High) - exponent * ln2Low
        // Taylor's polynomial: |r| is at most ln 2 / 2.
        var sum: Float = 1.0 / 5040
        sum = sum * r + 1.0 / 720
        sum = sum * r + 1.0 / 120
        sum = sum * r + 1.0 / 24
        sum = sum * r + 1.0 / 6
        sum = sum * r + 0.5
        sum = sum * r + 1
        sum = sum * r + 1
        return sum * Float(bitPattern: (large.bitPattern &- Self.large.bitPattern &+ 127) << 23)
    }

    /// Natural logarithm, error below 2e-7 of the larger of 1 and the result; -87 for zero, negative numbers, subnormal numbers
    /// and NaN.
    package static func log(_ x: Float) -> Float {
        guard x >= .leastNormalMagnitude else { return -87 }
        guard x.isFinite else { return 88.722_84 }
        var exponent = Float(Int32(x.bitPattern >> 23) - 127)
        var mantissa = Float(bitPattern: (x.bitPattern & 0x007f_ffff) | 0x3f80_0000)
        if mantissa > 1.414_213_5 {
            mantissa *= 0.5
            exponent += 1
        }
        // The series of the inverse hyperbolic tangent: |s| is at most 0.172.
        let s = (mantissa - 1) / (mantissa + 1)
        let square = s * s
        var sum: Float = 1.0 / 9
        sum = sum * square + 1.0 / 7
        sum = sum * square + 1.0 / 5
        sum = sum * square + 1.0 / 3
        sum = sum * square + 1
        return exponent * ln2High + (2 * s * sum + exponent * ln2Low)
    }
}
