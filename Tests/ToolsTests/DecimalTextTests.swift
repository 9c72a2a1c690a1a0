import Base
import Testing

/// Durations as people read and set them.
@Suite struct DecimalTextTests {
    @Test func `Seconds have two decimals where they are measured, and none that say nothing where they are set`() {
        for (duration, measured, set) in [
            (Duration.seconds(10), "10.00", "10"), (.milliseconds(2500), "2.50", "2.50"),
            (.milliseconds(9999), "10.00", "10"), (.zero, "0.00", "0"),
        ] {
            #expect(decimal(duration) == measured)
            #expect(seconds(duration) == set)
        }
    }
}
