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

/// The compiler driver exports every symbol of a program, which keeps its unused functions. No plug-in needs the symbols. Without
/// them the stripped program has 13.5 MB instead of 14.0 MB, and 19.8 MB instead of 21.3 MB are resident at rest.
let smallProgram: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(configuration: .release))
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
        // Instants and texts that every target knows.
        pure("Base"),
        // What the kernel offers every program: clocks, wake-ups, files, errno.
        .systemLibrary(name: "CSystem"),
        adapter("System", ["Base", "CSystem"]),

        pure("Beacon", ["Base"]),
        pure("Regions", ["Base", "Beacon"]),
        pure("Presence", ["Base", "Beacon", "Regions"]),
        pure("JSON", ["Base"]),
        pure("OwnTracks", ["Base", "Beacon", "JSON", "Regions"]),
        pure("Configuration", ["Base", "Beacon", "JSON", "OwnTracks", "Regions"]),
        pure("Gateway", ["Base", "Beacon", "Configuration", "JSON", "OwnTracks", "Presence", "Regions"]),
        pure("Status", ["Base", "Beacon", "Configuration", "Gateway", "JSON", "OwnTracks", "Presence", "Regions"]),
        pure("HomeAssistant", ["Base", "Beacon", "Gateway", "JSON", "OwnTracks", "Status"]),
        pure("ReadingFeed", ["Base", "Beacon"]),
        pure("Rooms", ["Base", "Beacon", "Regions", "Presence"]),
        pure("RoomMessages", ["Base", "Beacon", "JSON", "OwnTracks", "Regions", "Rooms"]),

        adapter("Scanning", ["Base", "Beacon", "System"]),
        library("CBluetooth", pkgConfig: "bluez", debian: "libbluetooth-dev"),
        adapter("KernelScanning", ["Base", "Beacon", "Scanning", "CBluetooth"]),
        library("CDBus", pkgConfig: "dbus-1", debian: "libdbus-1-dev"),
        adapter("DBus", ["Base", "CDBus"]),
        adapter("BlueZScanning", ["Base", "Beacon", "DBus", "Scanning"]),
        adapter("ServiceDiscovery", ["Base", "DBus"]),
        library("CSystemd", pkgConfig: "libsystemd", debian: "libsystemd-dev"),
        adapter("Runtime", ["Base", "System", "CSystemd"]),
        library("CMosquitto", pkgConfig: "libmosquitto", debian: "libmosquitto-dev"),
        adapter("Messaging", ["Base", "Beacon", "Configuration", "JSON", "OwnTracks", "System", "CMosquitto"]),
        // No library to link: libcurl is loaded when it is needed.
        .systemLibrary(name: "CCurl"),
        adapter("HTTPMessaging", ["Base", "Configuration", "System", "CCurl"]),
        library("CSodium", pkgConfig: "libsodium", debian: "libsodium-dev"),
        adapter("Encryption", ["Configuration", "JSON", "OwnTracks", "CSodium"]),
        library("CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),
        adapter("Storage", ["Base", "Beacon", "Regions", "Presence", "System", "CSQLite"]),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
        adapter(
            "StatusPage",
            ["Base", "Beacon", "Configuration", "Gateway", "JSON", "OwnTracks", "Status", "CMicroHTTPD"],
            resources: [.embedInCode("Page")]),

        // The service: carries out what the core decides, over radio, store, broker and status page.
        adapter(
            "Service",
            [
                "Base", "Beacon", "BlueZScanning", "Configuration", "Encryption", "Gateway", "HTTPMessaging",
                "HomeAssistant", "JSON", "KernelScanning", "Messaging", "OwnTracks", "Presence", "ReadingFeed",
                "Regions", "RoomMessages",
                "Runtime",
                "Scanning", "Status", "StatusPage", "Storage", "System",
            ]),
        // The rooms service, over the same store and broker.
        adapter(
            "RoomService",
            [
                "Base", "Beacon", "Configuration", "Gateway", "HomeAssistant", "JSON", "Messaging", "OwnTracks",
                "Regions",
                "RoomMessages", "Rooms", "Runtime", "Service", "Status", "StatusPage", "Storage", "System",
            ], resources: [.embedInCode("Page")]),
        // getopt_long's state behind functions.
        .systemLibrary(name: "CGetopt"),
        // The commands of the program, a folder for each subject.
        adapter(
            "CommandLine",
            [
                "Base", "Beacon", "Configuration", "DBus", "Encryption", "Gateway", "HTTPMessaging", "HomeAssistant",
                "JSON",
                "KernelScanning", "Messaging", "OwnTracks", "Presence", "Regions", "RoomMessages", "RoomService",
                "Rooms", "Runtime",
                "Scanning", "Service", "ServiceDiscovery", "Status", "StatusPage", "Storage", "System", "CGetopt",
            ]),
        .executableTarget(
            name: "ibeacon-gateway", dependencies: ["CommandLine"], swiftSettings: settings,
            linkerSettings: smallProgram),

        tests("BeaconTests", ["Base", "Beacon", "TestSupport"]),
        tests("RegionsTests", ["Base", "Beacon", "Regions", "TestSupport"]),
        tests("PresenceTests", ["Base", "Beacon", "Regions", "Presence"]),
        tests("OwnTracksTests", ["Base", "Configuration", "JSON", "Beacon", "Regions", "OwnTracks", "TestSupport"]),
        tests("RoomsTests", ["Base", "Beacon", "Regions", "Rooms"]),
        tests("RoomMessagesTests", ["Base", "Beacon", "JSON", "RoomMessages", "Rooms"]),
        tests("JSONTests", ["Base", "JSON", "OwnTracks", "TestSupport"]),
        tests(
            "ConfigurationTests", ["Base", "Beacon", "Configuration", "JSON", "OwnTracks", "Regions", "TestSupport"]),
        tests("StatusTests", ["Base", "Beacon", "Gateway", "Presence", "Status", "TestSupport"]),
        tests(
            "ServiceTests",
            [
                "Base", "Beacon", "CFaultVFS", "Configuration", "Encryption", "Gateway", "JSON", "Messaging",
                "OwnTracks", "RoomMessages", "Runtime", "Scanning", "Service", "ServiceSupport", "StatusPage",
                "Storage",
                "System", "TestSupport",
            ]),
        tests(
            "RoomServiceTests",
            [
                "Base", "Configuration", "JSON", "Messaging", "Regions", "RoomMessages", "Rooms", "RoomService",
                "Runtime", "Service", "ServiceSupport", "StatusPage", "Storage", "TestSupport",
            ]),
        tests("SystemTests", ["Base", "System", "TestSupport"]),
        tests(
            "GatewayTests",
            [
                "Status", "Base", "Configuration", "JSON", "Beacon", "Regions", "OwnTracks", "Presence", "Gateway",
                "TestSupport",
            ]),
        tests(
            "CommandLineTests", ["Base", "CommandLine", "Configuration", "JSON", "KernelScanning", "TestSupport"]),
        tests("ScanningTests", ["Base", "Beacon", "HostSupport", "Scanning", "TestSupport"]),
        tests("KernelScanningTests", ["Base", "Beacon", "HostSupport", "Scanning", "KernelScanning"]),
        tests(
            "BlueZScanningTests", ["Base", "Beacon", "BlueZScanning", "DBus", "DBusSupport", "HostSupport", "Scanning"]),
        tests("RuntimeTests", ["Base", "System", "Beacon", "Runtime"]),
        tests("EncryptionTests", ["Configuration", "JSON", "Encryption", "OwnTracks"]),
        tests("MessagingTests", ["Base", "Configuration", "JSON", "Messaging", "OwnTracks", "TestSupport"]),
        tests(
            "StatusPageTests",
            [
                "Base", "Configuration", "JSON", "Status", "Beacon", "Presence", "Gateway", "OwnTracks", "StatusPage",
                "HostSupport", "StatusPageSupport",
            ]),
        tests("HTTPMessagingTests", ["Base", "Configuration", "HTTPMessaging", "System", "TestSupport"]),
        tests("ServiceDiscoveryTests", ["DBus", "DBusSupport", "ServiceDiscovery"]),
        tests("ReadingFeedTests", ["Base", "Beacon", "ReadingFeed"]),
        tests("HomeAssistantTests", ["Base", "JSON", "Status", "Beacon", "Gateway", "OwnTracks", "HomeAssistant"]),
        tests(
            "StorageTests", ["Base", "Beacon", "Regions", "Storage", "CFaultVFS", "StorageCrashChild", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "IntegrationTests",
            [
                "Base", "Configuration", "JSON", "Beacon", "Scanning", "Storage", "Encryption", "Messaging",
                "OwnTracks", "TestSupport", "ibeacon-gateway",
            ]),

        // What tests need beside themselves.
        .target(name: "TestSupport", dependencies: ["CSpawn"], path: "Tests/TestSupport", swiftSettings: settings),
        .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
        // Event loops for scanners and the status page: one in virtual time, one with poll().
        .target(name: "HostSupport", dependencies: ["Base"], path: "Tests/HostSupport", swiftSettings: settings),
        .target(
            name: "DBusSupport", dependencies: ["CDBus", "DBus"], path: "Tests/DBusSupport", swiftSettings: settings),
        // Links of a service that do what the test says.
        .target(
            name: "ServiceSupport",
            dependencies: [
                "Base", "Beacon", "Gateway", "Messaging", "Scanning", "Service", "StatusPage", "Storage", "System",
            ],
            path: "Tests/ServiceSupport", swiftSettings: settings),
        // SQLite's file layer, broken on command.
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        // The same for a whole program, loaded into it.
        .target(name: "CFaultyDisk", path: "Tests/CFaultyDisk"),
        .target(name: "CFalseClock", path: "Tests/CFalseClock"),
        // Writes to a store until it is killed.
        .executableTarget(
            name: "StorageCrashChild", dependencies: ["Base", "Beacon", "Storage"], path: "Tests/StorageCrashChild",
            swiftSettings: settings),
        // Drives one scanner in the virtual host and tells what came.
        .executableTarget(
            name: "scanner-probe",
            dependencies: ["Base", "Beacon", "BlueZScanning", "HostSupport", "KernelScanning", "Scanning"],
            path: "Tests/VirtualHost/Probe", swiftSettings: settings),
        .executableTarget(
            name: "HotPath", dependencies: ["Base", "Beacon", "Regions", "Presence", "Scanning", "CFloor"],
            path: "Benchmarks/HotPath",
            swiftSettings: settings),
        .executableTarget(
            name: "Parts",
            dependencies: [
                "Base", "Configuration", "JSON", "Beacon", "Regions", "OwnTracks", "Gateway", "Scanning", "Encryption",
                "Status", "Storage",
            ],
            path: "Benchmarks/Parts", swiftSettings: settings),
        // The yardstick in plain C that the hot path is held against.
        .target(name: "CFloor", path: "Benchmarks/CFloor"),
        // Counts allocations.
        .target(name: "CHeap", path: "Benchmarks/CHeap"),
        .executableTarget(
            name: "presence-benchmark", dependencies: ["Base", "Beacon", "Regions", "Presence"],
            path: "Benchmarks/presence",
            exclude: ["run", "held-out", "HeldOut", "traces"], swiftSettings: settings),
        .executableTarget(
            name: "rooms-benchmark",
            dependencies: ["Base", "Beacon", "CHeap", "ReadingFeed", "Regions", "RoomMessages", "Rooms"],
            path: "Benchmarks/rooms",
            exclude: ["run", "load", "traces"], swiftSettings: settings),
        .target(
            name: "StatusPageSupport",
            dependencies: [
                "Base", "Configuration", "JSON", "Status", "Beacon", "Presence", "Gateway", "OwnTracks", "StatusPage",
                "HostSupport",
            ],
            path: "Tests/StatusPageSupport", swiftSettings: settings),
        .executableTarget(
            name: "status-page-demo",
            dependencies: [
                "Base", "Configuration", "Gateway", "HomeAssistant", "HostSupport", "JSON", "OwnTracks", "Status",
                "StatusPage", "StatusPageSupport",
            ],
            path: "Tests/StatusPageDemo", swiftSettings: settings),
    ]
)
