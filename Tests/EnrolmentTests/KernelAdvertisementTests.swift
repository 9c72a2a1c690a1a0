import Base
import HostSupport
import KernelScanning
import Testing

@testable import Enrolment

/// An enrolment by bluetoothd where that refuses the advertisement.
@Suite struct KernelAdvertisementTests {
    private typealias Fixture = BlueZEnrolmentFixture

    /// Until bluetoothd has refused.
    private func refused(_ name: String = "org.bluez.Error.Failed", kernel: FakeKernel?) -> Fixture {
        let fixture = Fixture()
        fixture.kernel = kernel
        fixture.start()
        fixture.shows()
        fixture.refusesAdvertisement(with: name)
        kernel?.answer()
        return fixture
    }

    @Test(arguments: [
        "org.bluez.Error.Failed", "org.bluez.Error.NotPermitted", "org.bluez.Error.AlreadyExists",
        "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.UnknownMethod", "x.y",
    ])
    func `Whatever error bluetoothd refuses with, the kernel advertises, and a phone is enrolled`(name: String) {
        let kernel = FakeKernel()
        let fixture = refused(name, kernel: kernel)
        #expect(
            fixture.progress == [
                .advertisedByKernel("bluetoothd refuses RegisterAdvertisement: \(name): no"), .waiting,
            ])
        #expect(kernel.commands.first == "readAdvertisingFeatures")
        // The lowest number that is free, connectable and discoverable, for 240 s at most.
        #expect(kernel.commands.last?.hasPrefix("addAdvertising 2 3 0 0 0 0 0 240 0 ") == true)
        #expect(fixture.files.record.advertisements == [AdapterAdvertisement(adapter: 0, instance: 2)])
        fixture.connects()
        fixture.pairs()
        kernel.answer()
        fixture.removes()
        #expect(kernel.commands.last == "removeAdvertising 2")
        guard case .enrolled = fixture.end else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(fixture.left.isEmpty)
        #expect(fixture.files.record.isEmpty)
        #expect(!kernel.isOpen)
    }

    @Test func `Where bluetoothd offers no advertisements, the kernel is asked`() {
        let kernel = FakeKernel()
        let fixture = Fixture()
        fixture.kernel = kernel
        fixture.start()
        fixture.shows(canAdvertise: false, hasServices: true)
        fixture.refusesAdvertisement(with: "org.freedesktop.DBus.Error.UnknownMethod")
        kernel.answer()
        #expect(fixture.progress.last == .waiting)
    }

    @Test func `If bluetoothd advertises, the kernel is not asked`() {
        let kernel = FakeKernel()
        let fixture = Fixture()
        fixture.kernel = kernel
        fixture.start()
        fixture.shows()
        fixture.accepts()
        #expect(!kernel.isOpen && kernel.commands.isEmpty)
    }

    @Test func `If both refuse, the end says why, and nothing stays`() {
        let kernel = FakeKernel()
        kernel.refusals[.addAdvertising] = ManagementStatus.busy
        let fixture = refused(kernel: kernel)
        #expect(
            fixture.reason
                == "bluetoothd refuses RegisterAdvertisement: org.bluez.Error.Failed: no; the kernel refuses addAdvertising: Busy"
        )
        kernel.answer()
        #expect(kernel.commands.last == "removeAdvertising 2")
        #expect(fixture.files.record.isEmpty)
        let full = FakeKernel()
        full.advertisements = (2, [1, 2])
        #expect(
            refused(kernel: full).reason.hasSuffix("hci0 cannot advertise, or has no room for another advertisement"))
        let blind = FakeKernel()
        blind.refusals[.readAdvertisingFeatures] = ManagementStatus.permissionDenied
        #expect(
            refused(kernel: blind).reason.hasSuffix("the kernel refuses readAdvertisingFeatures: Permission Denied"))
        #expect(refused(kernel: nil).reason.hasSuffix("the kernel cannot be asked instead: no right"))
    }

    @Test func `A kernel that does not answer is given ten seconds, and what may be on the air stays in the record`() {
        let kernel = FakeKernel()
        let fixture = Fixture()
        fixture.kernel = kernel
        fixture.start()
        fixture.shows()
        fixture.refusesAdvertisement()
        kernel.isSilent = true
        // It answers what it can do, and not the advertisement.
        kernel.answer()
        fixture.host.advance(by: .seconds(10))
        #expect(fixture.end == nil)
        fixture.host.advance(by: .seconds(10))
        #expect(fixture.reason.hasSuffix("the kernel does not answer"))
        #expect(fixture.left == ["hci0: the kernel does not answer"])
        #expect(fixture.files.record.advertisements == [AdapterAdvertisement(adapter: 0, instance: 2)])
    }

    @Test(arguments: [ManagementStatus.invalidIndex, ManagementStatus.invalidParameters])
    func `An advertisement or adapter that is gone is no remainder`(status: UInt8) {
        let kernel = FakeKernel()
        let fixture = refused(kernel: kernel)
        kernel.refusals[.removeAdvertising] = status
        fixture.enrolment?.interrupt()
        kernel.answer()
        #expect(fixture.end == .interrupted)
        #expect(fixture.left.isEmpty && fixture.files.record.isEmpty)
    }

    @Test func `An advertisement that the kernel does not remove stays in the record`() {
        let kernel = FakeKernel()
        let fixture = refused(kernel: kernel)
        kernel.refusals[.removeAdvertising] = ManagementStatus.busy
        fixture.enrolment?.interrupt()
        kernel.answer()
        #expect(fixture.left == ["hci0: the advertisement: Busy"])
        #expect(fixture.files.record.advertisements.count == 1)
    }

    @Test func `An interruption while the kernel is asked removes what it may have begun`() {
        let kernel = FakeKernel()
        let fixture = Fixture()
        fixture.kernel = kernel
        fixture.start()
        fixture.shows()
        fixture.refusesAdvertisement()
        kernel.answerOnce()
        #expect(kernel.commands.last?.hasPrefix("addAdvertising 2 ") == true)
        fixture.enrolment?.interrupt()
        kernel.answer()
        #expect(kernel.commands.last == "removeAdvertising 2")
        #expect(fixture.end == .interrupted)
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `The end of bluetoothd, or of the advertisement, ends the enrolment`() {
        let kernel = FakeKernel()
        let fixture = refused(kernel: kernel)
        fixture.ends()
        kernel.answer()
        #expect(fixture.reason == "bluetoothd has ended")
        #expect(kernel.commands.last == "removeAdvertising 2")
        let other = FakeKernel()
        let second = refused(kernel: other)
        other.says(0x24, [3])
        #expect(second.end == nil, "that of another program")
        other.says(0x24, [2])
        #expect(second.reason == "another program has ended the advertisement")
    }

    @Test func `The advertisement of a killed enrolment is removed first`() {
        let kernel = FakeKernel()
        let fixture = Fixture()
        fixture.kernel = kernel
        fixture.files.record.advertisements = [AdapterAdvertisement(adapter: 0, instance: 2)]
        fixture.start()
        fixture.shows()
        kernel.answer()
        #expect(kernel.commands == ["removeAdvertising 2"])
        fixture.accepts()
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `The record keeps an advertisement`() {
        var record = EnrolmentRecord()
        record.advertisements = [AdapterAdvertisement(adapter: 3, instance: 2)]
        #expect(!record.isEmpty)
        #expect(EnrolmentRecord(parsing: record.bytes) == record)
    }

    @Test(
        arguments: [
            ([0, 0, 0, 0, 31, 31, 4, 1, 2], [1, 3, 4]), ([0, 0, 0, 0, 31, 31, 0, 0], []),
            ([0, 0, 0, 0, 31, 31, 1, 1, 1], []), ([0, 0, 0, 0, 31, 31, 5], nil), ([], nil),
        ] as [([UInt8], [UInt8]?)])
    func `The numbers that have no advertisement are free`(answer: [UInt8], free: [UInt8]?) {
        #expect(AdvertisingFeatures(answer)?.free == free)
    }
}
