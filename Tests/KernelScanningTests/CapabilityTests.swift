import Testing

@testable import KernelScanning

/// What is said of a capability that is missing.
@Suite struct CapabilityTests {
    @Test(
        "A missing capability is named with the unit's line, the options of a container and a command",
        arguments: Capability.allCases)
    func remedy(_ capability: Capability) {
        #expect(capability.remedy.contains("AmbientCapabilities=\(capability.name)"))
        #expect(capability.remedy.contains("--cap-add NET_ADMIN --cap-add NET_RAW"))
        #expect(capability.remedy.contains("sudo setcap cap_net_admin,cap_net_raw+ep"))
    }

    @Test("Without CAP_NET_RAW hci does not work, nothing checks that the controller scans, and none is reset")
    func purpose() {
        #expect(
            Capability.netRaw.purpose
                == "which scanner \"hci\", the check that the controller scans, and the reset of a hung controller need"
        )
        #expect(Capability.netAdmin.purpose == "which scanner \"mgmt\" needs")
    }
}
