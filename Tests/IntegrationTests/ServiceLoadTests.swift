import TestSupport
import Testing

/// A short form of what `Scripts/test-release page` does at full length: there 200 pages, 1,000 requests a second, 30 s and
/// a limit of 100 ms, which needs a machine that does nothing else. Here nothing depends on how quick the machine is.
@Suite struct ServiceLoadTests {
    @Test func `Beside watchers and a thousand reports a second each transition arrives, and no client is refused`()
        throws
    {
        let script = "\(GatewayProcess.fixtures)/../StatusPageBrowser/load.py"
        let text = try run("python3", [script, try GatewayProcess.program, "5", "30", "100", "0"])
        #expect(text.contains("all limits hold"), "\(text)")
    }
}
