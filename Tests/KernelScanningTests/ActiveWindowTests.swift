import Base
import Testing

@testable import KernelScanning

/// When the kernel's discovery is begun for a window of active scan, and when not.
@Suite struct ActiveWindowTests {
    private static let start = MonotonicInstant.zero.advanced(by: .seconds(100))
    private let success = ManagementStatus.success

    private func at(_ seconds: Double) -> MonotonicInstant {
        Self.start.advanced(by: .milliseconds(Int(seconds * 1000)))
    }

    private func running() -> ActiveWindow {
        var window = ActiveWindow()
        #expect(window.open(at: at(0)) == .countMonitors)
        #expect(window.counted(others: 0, at: at(0)) == .startDiscovery)
        #expect(window.isOwn && !window.isRunning)
        #expect(window.started(status: success, at: at(0)) == nil)
        #expect(window.discovering(true, at: at(0)) == nil)
        #expect(window.isRunning)
        return window
    }

    @Test func `The kernel ends each discovery, and it is begun again until the window ends`() {
        var window = running()
        for seconds in [10.0, 20, 30] {
            #expect(window.discovering(false, at: at(seconds)) == .countMonitors)
            #expect(window.counted(others: 0, at: at(seconds)) == .startDiscovery)
            #expect(window.started(status: success, at: at(seconds)) == nil)
            #expect(window.discovering(true, at: at(seconds)) == nil)
        }
        #expect(window.end == at(35))
        #expect(window.open(at: at(31)) == nil && window.end == at(35), "one that is open is not made longer")
        #expect(window.close() == .stopDiscovery)
        #expect(window.stopped(status: success, at: at(35)) == nil)
        #expect(window.isOwn, "the kernel has not said yet that it is over")
        #expect(window.discovering(false, at: at(35)) == nil)
        #expect(!window.isOwn && window.obstacle(at: at(35)) == nil)
        #expect(window.open(at: at(36)) == .countMonitors, "our own discovery is nobody else's")
    }

    @Test func `A discovery that has ended by itself when it is to be stopped ends the window`() {
        var window = running()
        #expect(window.close() == .stopDiscovery)
        #expect(window.stopped(status: 0x0b, at: at(1)) == nil)
        #expect(!window.isOwn)
    }

    @Test func `What is no longer wanted before the kernel has answered is stopped as soon as it runs`() {
        var window = ActiveWindow()
        _ = window.open(at: at(0))
        _ = window.counted(others: 0, at: at(0))
        #expect(window.close() == nil, "the kernel refuses to stop a discovery that is only beginning")
        #expect(window.started(status: success, at: at(1)) == .stopDiscovery)
    }

    @Test func `What is no longer wanted before anything was begun is never begun`() {
        var window = ActiveWindow()
        _ = window.open(at: at(0))
        #expect(window.close() == nil)
        #expect(window.counted(others: 0, at: at(1)) == nil)
        #expect(!window.isOwn)
    }

    @Test func `While another program discovers, and for 30 s afterwards, no window is begun`() {
        var window = ActiveWindow()
        #expect(window.discovering(true, at: at(0)) == nil)
        #expect(window.open(at: at(1)) == nil && window.end == nil)
        #expect(window.discovering(false, at: at(10)) == nil)
        #expect(window.open(at: at(39)) == nil, "bluetoothd begins again after some seconds")
        #expect(window.obstacle(at: at(39)) == nil, "it passes")
        #expect(window.open(at: at(40)) == .countMonitors)
    }

    @Test func `Another program that begins while the monitors are counted goes first`() {
        var window = ActiveWindow()
        _ = window.open(at: at(0))
        #expect(window.discovering(true, at: at(0)) == nil)
        #expect(window.counted(others: 0, at: at(0)) == nil)
        #expect(!window.isOwn && window.end == nil)
    }

    @Test func `A discovery that the kernel refuses as busy is another program's`() {
        var window = ActiveWindow()
        _ = window.open(at: at(0))
        _ = window.counted(others: 0, at: at(0))
        #expect(window.started(status: ManagementStatus.busy, at: at(0)) == nil)
        #expect(!window.isOwn && window.obstacle(at: at(0)) == nil, "it passes")
        #expect(window.open(at: at(29)) == nil)
        #expect(window.open(at: at(30)) == .countMonitors)
    }

    @Test func `Where another program has a monitor, as a Home Assistant at bluetoothd has, no window is offered`() {
        var window = ActiveWindow()
        #expect(window.counted(others: 1, at: at(0)) == nil)
        #expect(window.obstacle(at: at(0)) == .monitors)
        #expect(window.open(at: at(1)) == .countMonitors, "it may have gone")
        #expect(window.counted(others: 1, at: at(1)) == nil)
        #expect(!window.isOwn && window.end == nil)
        #expect(window.open(at: at(2)) == .countMonitors)
        #expect(window.counted(others: 0, at: at(2)) == .startDiscovery)
        #expect(window.obstacle(at: at(2)) == nil)
    }

    @Test func `A monitor that another program adds during a window ends it with the discovery that runs`() {
        var window = running()
        #expect(window.discovering(false, at: at(10)) == .countMonitors)
        #expect(window.counted(others: 2, at: at(10)) == nil)
        #expect(!window.isOwn && window.end == nil && window.obstacle(at: at(10)) == .monitors)
    }

    @Test func `A refusal of another kind is told, and ends the offer until a discovery succeeds`() {
        var window = ActiveWindow()
        _ = window.open(at: at(0))
        _ = window.counted(others: 0, at: at(0))
        #expect(window.started(status: ManagementStatus.permissionDenied, at: at(0)) == nil)
        #expect(window.obstacle(at: at(0)) == .refused(status: ManagementStatus.permissionDenied))
        _ = window.open(at: at(1))
        _ = window.counted(others: 0, at: at(1))
        _ = window.started(status: success, at: at(1))
        #expect(window.obstacle(at: at(1)) == nil)
    }

    /// As bluetoothd does it for a client: the kernel ends each discovery after 10 s, and 5 s later it begins the next.
    private func discovers(_ window: inout ActiveWindow, from begin: Double, to end: Double) {
        for seconds in stride(from: begin, to: end, by: 15) {
            #expect(window.discovering(true, at: at(seconds)) == nil)
            #expect(window.discovering(false, at: at(seconds + 10)) == nil)
        }
    }

    @Test func `Where another program discovers all the time, no window is offered until half a minute is quiet`() {
        var window = ActiveWindow()
        discovers(&window, from: 0, to: 59)
        #expect(window.obstacle(at: at(59.9)) == nil)
        #expect(window.nextChange(after: at(59.9)) == at(60))
        #expect(window.obstacle(at: at(60)) == .discovery)
        discovers(&window, from: 60, to: 600)
        #expect(window.nextChange(after: at(610)) == at(625))
        #expect(window.obstacle(at: at(624.9)) == .discovery && window.obstacle(at: at(625)) == nil)
        #expect(window.open(at: at(625)) == .countMonitors)
    }

    @Test func `Discoveries with pauses long enough for a window are none that goes on all the time`() {
        var window = ActiveWindow()
        for minute in stride(from: 0.0, to: 600, by: 60) {
            discovers(&window, from: minute, to: minute + 20)
            #expect(window.obstacle(at: at(minute + 59)) == nil)
        }
    }

    @Test func `A discovery that goes on without an end is there all the time, too`() {
        var window = ActiveWindow()
        #expect(window.discovering(true, at: at(0)) == nil)
        #expect(window.nextChange(after: at(1)) == at(60))
        #expect(window.obstacle(at: at(60)) == .discovery && window.nextChange(after: at(60)) == nil)
    }

    @Test func `What another program listens for counts whether or not somebody discovers`() {
        var window = ActiveWindow()
        #expect(window.counted(others: 1, at: at(0)) == nil)
        discovers(&window, from: 1, to: 10)
        #expect(window.obstacle(at: at(12)) == .monitors)
    }

    @Test func `An adapter that is off has no window, and none is begun when it is on again`() {
        var window = running()
        window.lost()
        #expect(!window.isOwn && window.end == nil)
        #expect(window.started(status: success, at: at(1)) == nil)
        #expect(!window.isOwn)
    }
}
