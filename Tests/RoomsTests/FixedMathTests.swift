import Rooms
import Testing

/// Arithmetic that is the same on every processor.
@Suite struct FixedMathTests {
    @Test(
        arguments: [
            (0, 1), (1, 2.718_281_8), (-1, 0.367_879_44), (10, 22026.466), (-10, 4.539_993e-5), (-86, 4.473_779_3e-38),
        ] as [(Float, Float)])
    func `Known bits come out, whatever the C library is`(_ x: Float, _ expected: Float) {
        #expect(abs(FixedMath.exp(x) - expected) <= expected * 4e-7)
    }

    @Test func `The exponential has no surprises at its ends`() {
        #expect(FixedMath.exp(-200) == 0)
        #expect(FixedMath.exp(-.infinity) == 0)
        #expect(FixedMath.exp(.nan) == 0)
        #expect(FixedMath.exp(.infinity).isFinite)
    }

    @Test(arguments: [-80, -20, -3, -0.1, 0, 0.1, 1, 5, 60] as [Float])
    func `The logarithm undoes the exponential`(_ x: Float) {
        #expect(abs(FixedMath.log(FixedMath.exp(x)) - x) <= 1e-6 * max(1, abs(x)))
    }

    @Test(arguments: [0, -1, .nan, -.infinity] as [Float])
    func `The logarithm of what has none is very small`(_ x: Float) {
        #expect(FixedMath.log(x) == -87)
    }
}
