import KernelScanning
import Testing

@Suite struct AdvertisingFeaturesTests {
    /// Of Linux 6.1: a controller with advertising sets, and one without.
    @Test(arguments: [([0xff, 0xff, 1, 0], true), ([0x7f, 0xf0, 1, 0], false)] as [([UInt8], Bool)])
    func `The kernel's flags tell whether the controller has advertising sets`(flags: [UInt8], hasSets: Bool) throws {
        let features = try #require(AdvertisingFeatures(flags + [31, 31, 3, 1, 2]))
        #expect(features.hasSets == hasSets)
        #expect(features.used == [2] && features.free == [1, 3])
    }

    @Test func `A short answer is none`() {
        for count in 0..<8 { #expect(AdvertisingFeatures([UInt8](repeating: 0, count: count)) == nil) }
        #expect(AdvertisingFeatures([UInt8](repeating: 0, count: 8))?.free == [])
    }
}
