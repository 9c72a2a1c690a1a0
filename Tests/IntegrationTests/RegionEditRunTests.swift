import Glibc
import TestSupport
import Testing

/// Regions that the command line changes for a topic that the running service does not know yet, as its
/// configuration was changed under it.
@Suite struct RegionEditRunTests {
    private static let quiet = "scanner: {capture: \"air.btsnoop\"}, leaveAfter: 30"

    /// A service of the topic `…/hall`, and a file that says `…/kitchen` by now.
    private func gateway() throws -> GatewayProcess {
        let gateway = try GatewayProcess(Self.quiet, port: 0)
        var air = BeaconScript()
        air.advertise(7, from: 0, to: 600)
        try air.write(to: gateway.directory.file("air.btsnoop"))
        try gateway.start()
        #expect(gateway.says("is running"), "\(gateway.log)")
        try gateway.configure("deviceId: \"kitchen\", \(Self.quiet)", port: 0)
        return gateway
    }

    private func add(_ gateway: GatewayProcess) throws -> String {
        try gateway.ask("regions", "add", "Ada:\(BeaconScript.uuid):1:7", "--rid", "a")
    }

    @Test func `It is said at once that they wait, and a reload takes them`() throws {
        let gateway = try gateway()
        #expect(try add(gateway).contains("this waits until it is started or reloaded"))
        #expect(gateway.says("changes of regions wait (1), as no tracker has the topic owntracks/jane/kitchen"))
        #expect(!gateway.log.contains("entered Ada"))
        gateway.process?.send(SIGHUP)
        #expect(gateway.says("entered Ada"), "\(gateway.log)")
        #expect(!(try gateway.ask("regions", "remove", "a")).contains("waits"))
        #expect(gateway.says("left Ada"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `They are there after a crash, and a start with the new topic takes them`() throws {
        let gateway = try gateway()
        _ = try add(gateway)
        #expect(gateway.says("changes of regions wait"), "\(gateway.log)")
        gateway.kill()
        try gateway.start()
        #expect(gateway.says("entered Ada"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
        #expect(try gateway.ask("regions", "list").contains("Ada"))
    }
}
