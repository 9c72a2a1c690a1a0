import Beacon
import Scanning
import Testing

/// Why no adapter can be used, by what is selected and what is there.
@Suite struct ScanProblemTests {
    private static let first = PresentAdapter(
        index: 0, address: DeviceAddress(value: 0x00aa_0100_0042, isRandom: false))
    private static let second = PresentAdapter(
        index: 1, address: DeviceAddress(value: 0x00aa_0100_0043, isRandom: false))

    @Test(arguments: [
        (AdapterSelection.all, [first], nil as String?),
        (.all, [], "there is no Bluetooth adapter"),
        (.index(0), [first], nil),
        (.index(0), [], "there is no Bluetooth adapter; the setting 'adapter' names hci0"),
        (
            .index(0), [second],
            "the adapter hci0 of the setting 'adapter' is not there; there is hci1 (00:AA:01:00:00:43)"
        ),
        (.address(0x00aa_0100_0043), [first, second], nil),
        (
            .address(0x00aa_0100_0044), [first, second],
            "the adapter 00:AA:01:00:00:44 of the setting 'adapter' is not there; "
                + "there are hci0 (00:AA:01:00:00:42), hci1 (00:AA:01:00:00:43)"
        ),
        (
            .anyOf([.index(2), .address(0x00aa_0100_0042), .index(3)]), [first],
            "the adapters hci2, hci3 of the setting 'adapter' are not there; there is hci0 (00:AA:01:00:00:42)"
        ),
        (.anyOf([.index(1), .index(0)]), [first, second], nil),
    ])
    func `Names that no adapter has are said, with the adapters that are there`(
        selection: AdapterSelection, present: [PresentAdapter], text: String?
    ) {
        #expect(selection.problem(among: present)?.text == text)
    }

    @Test func `An adapter without a known address is selected by its number alone`() {
        let unknown = PresentAdapter(index: 0, address: nil)
        #expect(AdapterSelection.index(0).includes(unknown))
        #expect(!AdapterSelection.address(0x00aa_0100_0042).includes(unknown))
        #expect(unknown.description == "hci0")
    }
}
