// swift-tools-version: 6.2
import PackageDescription

/// Every target is held to the same settings: what the language will be tomorrow, today.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A target without I/O: it may depend on pure targets only.
func pure(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A target that touches the world through at most one C library.
func adapter(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// A C library from the distribution, imported by exactly one adapter.
func library(_ name: String, pkgConfig: String, debian: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

let package = Package(
    name: "ibeacon-gateway",
    products: [
        // For tests: a disk that fails on command.
        .library(name: "FaultyDisk", type: .dynamic, targets: ["CFaultyDisk"]),
        // A wall clock that is set while a program runs.
        .library(name: "FalseClock", type: .dynamic, targets: ["CFalseClock"]),
    ],
    targets: [
        pure("Beacon"),
        pure("Regions", ["Beacon"]),
        pure("Presence", ["Beacon", "Regions"]),
        pure("OwnTracks", ["Beacon", "Regions"]),
        pure("Gateway", ["Beacon", "Regions", "Presence", "OwnTracks"]),
        pure("HomeAssistant", ["Beacon", "Gateway", "OwnTracks"]),
        pure("ServiceDiscovery"),
        pure("ReadingFeed", ["Beacon"]),

        adapter("Scanning", ["Beacon"]),
        library("CBluetooth", pkgConfig: "bluez", debian: "libbluetooth-dev"),
        adapter("KernelScanning", ["Beacon", "Scanning", "CBluetooth"]),
        library("CDBus", pkgConfig: "dbus-1", debian: "libdbus-1-dev"),
        adapter("BlueZScanning", ["Beacon", "Scanning", "CDBus"]),
        library("CSystemd", pkgConfig: "libsystemd", debian: "libsystemd-dev"),
        adapter("Runtime", ["Beacon", "CSystemd"]),
        library("CMosquitto", pkgConfig: "libmosquitto", debian: "libmosquitto-dev"),
        adapter("Messaging", ["Beacon", "OwnTracks", "CMosquitto"]),
        library("CSodium", pkgConfig: "libsodium", debian: "libsodium-dev"),
        adapter("Encryption", ["OwnTracks", "CSodium"]),
        library("CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),
        adapter("Storage", ["Beacon", "Regions", "Presence", "CSQLite"]),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
        adapter(
            "StatusPage", ["Beacon", "Gateway", "OwnTracks", "CMicroHTTPD"], resources: [.embedInCode("Page")]),

        // getopt_long's state behind functions.
        .systemLibrary(name: "CGetopt"),
        .executableTarget(
            name: "ibeacon-gateway",
            dependencies: [
                "Beacon", "Regions", "Presence", "OwnTracks", "Gateway", "Scanning", "KernelScanning", "BlueZScanning",
                "Messaging", "Encryption", "Storage", "StatusPage",
                "HomeAssistant", "Runtime", "ServiceDiscovery", "CGetopt",
            ],
            swiftSettings: settings),

        tests("BeaconTests", ["Beacon", "TestSupport"]),
        tests("RegionsTests", ["Beacon", "Regions", "TestSupport"]),
        tests("PresenceTests", ["Beacon", "Regions", "Presence"]),
        tests("OwnTracksTests", ["Beacon", "Regions", "OwnTracks", "TestSupport"]),
        tests("GatewayTests", ["Beacon", "Regions", "OwnTracks", "Presence", "Gateway", "TestSupport"]),
        tests("ScanningTests", ["Beacon", "Scanning"]),
        tests("KernelScanningTests", ["Beacon", "Scanning", "KernelScanning"]),
        tests("RuntimeTests", ["Beacon", "Runtime"]),
        tests("EncryptionTests", ["Encryption", "OwnTracks"]),
        tests("MessagingTests", ["Messaging", "OwnTracks"]),
        tests("StatusPageTests", ["Beacon", "Presence", "Gateway", "OwnTracks", "StatusPage", "StatusPageSupport"]),
        tests("ServiceDiscoveryTests", ["ServiceDiscovery"]),
        tests("ReadingFeedTests", ["Beacon", "ReadingFeed"]),
        tests("HomeAssistantTests", ["Beacon", "Gateway", "OwnTracks", "HomeAssistant"]),
        tests(
            "StorageTests", ["Beacon", "Regions", "Storage", "CFaultVFS", "StorageCrashChild", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "IntegrationTests",
            ["Beacon", "Scanning", "Storage", "Encryption", "Messaging", "OwnTracks", "TestSupport", "ibeacon-gateway"]),

        // What tests need beside themselves.
        .target(name: "TestSupport", dependencies: ["CSpawn"], path: "Tests/TestSupport", swiftSettings: settings),
        .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
        // SQLite's file layer, broken on command.
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        // The same for a whole program, loaded into it.
        .target(name: "CFaultyDisk", path: "Tests/CFaultyDisk"),
        .target(name: "CFalseClock", path: "Tests/CFalseClock"),
        // Writes to a store until it is killed.
        .executableTarget(
            name: "StorageCrashChild", dependencies: ["Beacon", "Storage"], path: "Tests/StorageCrashChild",
            swiftSettings: settings),
        // Drives one scanner in the virtual host and tells what came.
        .executableTarget(
            name: "scanner-probe", dependencies: ["Beacon", "Scanning", "KernelScanning", "BlueZScanning"],
            path: "Tests/VirtualHost/Probe", swiftSettings: settings),
        .executableTarget(
            name: "HotPath", dependencies: ["Beacon", "Regions", "Presence", "Scanning", "CFloor"],
            path: "Benchmarks/HotPath",
            swiftSettings: settings),
        .executableTarget(
            name: "Parts",
            dependencies: ["Beacon", "Regions", "OwnTracks", "Gateway", "Scanning", "Encryption", "Storage"],
            path: "Benchmarks/Parts", swiftSettings: settings),
        // The yardstick in plain C that the hot path is held against.
        .target(name: "CFloor", path: "Benchmarks/CFloor"),
        .executableTarget(
            name: "presence-benchmark", dependencies: ["Beacon", "Regions", "Presence"], path: "Benchmarks/presence",
            exclude: ["run", "traces"], swiftSettings: settings),
        .target(
            name: "StatusPageSupport", dependencies: ["Beacon", "Presence", "Gateway", "OwnTracks", "StatusPage"],
            path: "Tests/StatusPageSupport", swiftSettings: settings),
        .executableTarget(
            name: "status-page-demo",
            dependencies: ["StatusPage", "StatusPageSupport", "OwnTracks", "HomeAssistant", "Gateway"],
            path: "Tests/StatusPageDemo", swiftSettings: settings),
    ]
)
