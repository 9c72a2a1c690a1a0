import Beacon
import Scanning
import Testing

@Suite struct AdapterSelectionTests {
    @Test(arguments: [
        ("all", AdapterSelection.all), ("hci0", .index(0)), ("hci12", .index(12)),
        ("00:AA:01:00:00:42", .address(0x00aa_0100_0042)), ("b8:27:eb:01:02:03", .address(0xb827_eb01_0203)),
    ])
    func readsAnAdapter(text: String, expected: AdapterSelection) {
        #expect(AdapterSelection(text) == expected)
    }

    @Test(arguments: [
        "", "hci", "hcix", "hci-1", "00:AA:01:00:00", "00:AA:01:00:00:4", "00AA01000042", "0x:AA:01:00:00:42",
    ])
    func refusesAnythingElse(text: String) {
        #expect(AdapterSelection(text) == nil)
    }

    @Test func findsAnAdapterByItsAddressWhateverItsNumber() {
        let address = DeviceAddress(value: 0x00aa_0100_0042, isRandom: false)
        #expect(AdapterSelection.address(0x00aa_0100_0042).includes(index: 7, address: address))
        #expect(!AdapterSelection.index(0).includes(index: 7, address: address))
        #expect(AdapterSelection.all.includes(index: 7, address: address))
    }
}
