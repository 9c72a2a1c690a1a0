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
/// them the stripped program has 13.5 MB instead of 14.0 MB, and 19.8 MB instead of 21.3 MB are resident at rest. Functions with the
/// same code, of which generic code makes many, are one: 0.2 MB less. A relocation that only adds the address at which the program is
/// loaded, of which it has 38,000, takes two bits instead of 24 bytes: 0.8 MB less. The loader understands these since glibc 2.36, that
/// of Debian 12, and the linker that makes them, lld, comes with the toolchain.
let smallProgram: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=safe", "-Xlinker", "-z",
            "-Xlinker", "pack-relative-relocs",
        ], .when(configuration: .release))
]

/// Targets whose code runs at a command, a start, a reload, a look at the page or a transition, and those that pass messages on. They are
/// compiled for size: half a megabyte less. What runs for a report or a reading is decided elsewhere, and the gate counts its instructions. A
/// library for other packages must not be here, because they refuse such flags.
let cold: Set = [
    "Advertising", "BluetoothProxy", "Configuration", "DBus", "Enrolment", "GatewayApp", "GatewayEntities",
    "HTTPMessaging", "Health", "PageServer", "ProxyLink", "RoomMessages", "RoomRules", "RoomsApp", "ServiceDiscovery",
    "Shell", "SiteCore", "Status", "StatusPage", "Storage", "System", "Tools", "YAML",
]
let forSize: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// A target of the program, by its path below `Sources`; the last part is its name.
func target(_ path: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .target(
        name: name(path), dependencies: dependencies, path: "Sources/\(path)", resources: resources,
        swiftSettings: settings + (cold.contains(name(path)) ? forSize : []))
}

func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

/// A target without I/O: it may depend on pure targets only.
func pure(_ path: String, _ dependencies: [Target.Dependency] = []) -> Target { target(path, dependencies) }

/// A target that touches the world through at most one C library.
func adapter(_ path: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    target(path, dependencies, resources: resources)
}

/// A C library from the distribution, imported by exactly one adapter.
func library(_ path: String, pkgConfig: String, debian: String) -> Target {
    .systemLibrary(name: name(path), path: "Sources/\(path)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// The libraries for other packages. `Docs/Example` uses them, and `Docs/interface.md` says what they promise.
let libraries = ["Base", "Beacon", "Regions", "Presence", "OwnTracks"]

let package = Package(
    name: "ibeacon-gateway",
    products: libraries.map { .library(name: $0, targets: [$0]) } + [
        // For tests: a disk that fails on command.
        .library(name: "FaultyDisk", type: .dynamic, targets: ["CFaultyDisk"]),
        // A wall clock that is set while a program runs.
        .library(name: "FalseClock", type: .dynamic, targets: ["CFalseClock"]),
    ],
    targets: [
        // Instants and texts that every target knows.
        pure("Libraries/Base"),
        // What the kernel offers every program: clocks, wake-ups, files, errno.
        .systemLibrary(name: "CSystem", path: "Sources/C/CSystem"),
        adapter("Shell/System", ["Base", "CSystem"]),

        pure("Libraries/Beacon", ["Base"]),
        // What is no iBeacon and may be a region all the same.
        pure("Libraries/Identities", ["Base", "Beacon"]),
        pure("Libraries/Regions", ["Base", "Beacon", "Identities"]),
        pure("Libraries/Presence", ["Base", "Beacon", "Regions"]),
        pure("Libraries/JSON", ["Base"]),
        pure("Libraries/OwnTracks", ["Base", "Beacon", "Identities", "JSON", "Regions"]),
        pure("Libraries/Configuration", ["Base", "Beacon", "JSON", "OwnTracks", "Regions"]),
        pure(
            "Cores/Gateway",
            ["Base", "Beacon", "Configuration", "Identities", "JSON", "OwnTracks", "Presence", "Regions"]),
        pure("Libraries/Health", ["Base", "JSON"]),
        pure(
            "Cores/Status",
            ["Base", "Beacon", "Configuration", "Gateway", "Health", "JSON", "OwnTracks", "Presence", "Regions"]),
        pure(
            "Cores/GatewayEntities",
            ["Base", "Beacon", "Gateway", "Health", "JSON", "OwnTracks", "Status"]),
        // The contract between the gateways and the service of a site.
        pure("Site/SiteProtocol", ["Base", "Beacon", "JSON"]),
        pure("Cores/ReadingFeed", ["Base", "Beacon", "SiteProtocol"]),
        // The Bluetooth proxy for Home Assistant.
        pure("Cores/BluetoothProxy", ["Base", "Beacon"]),
        // The rules of other programs, which are compared with ours.
        pure("Site/RoomRules"),
        pure("Site/Rooms", ["Base", "Beacon", "Regions", "Presence", "SiteProtocol"]),
        pure(
            "Cores/SiteCore",
            [
                "Base", "Beacon", "Configuration", "Health", "Identities", "JSON", "OwnTracks", "Regions", "Rooms",
                "SiteProtocol",
            ]),
        pure(
            "Site/RoomMessages",
            [
                "Base", "Beacon", "Identities", "JSON", "OwnTracks", "Regions", "RoomRules", "Rooms", "SiteCore",
                "SiteProtocol",
            ]),

        adapter("Radio/Scanning", ["Base", "Beacon", "Identities", "System"]),
        library("C/CCrypto", pkgConfig: "libcrypto", debian: "libssl-dev"),
        adapter("Radio/AddressKeys", ["Identities", "CCrypto"]),
        library("C/CBluetooth", pkgConfig: "bluez", debian: "libbluetooth-dev"),
        adapter("Radio/KernelScanning", ["Base", "Beacon", "Scanning", "System", "CBluetooth"]),
        // The beacon that the gateway sends.
        adapter("Radio/Advertising", ["Base", "Beacon", "KernelScanning", "Scanning", "System"]),
        library("C/CDBus", pkgConfig: "dbus-1", debian: "libdbus-1-dev"),
        adapter("Shell/DBus", ["Base", "System", "CDBus"]),
        adapter("Radio/BlueZScanning", ["Base", "Beacon", "DBus", "Scanning"]),
        // Pairs with a phone through bluetoothd or the kernel to get its key.
        adapter(
            "Radio/Enrolment", ["AddressKeys", "Base", "Beacon", "DBus", "Identities", "KernelScanning", "Scanning"]),
        adapter("Shell/ServiceDiscovery", ["DBus"]),
        library("C/CSystemd", pkgConfig: "libsystemd", debian: "libsystemd-dev"),
        adapter("Shell/Runtime", ["Base", "System", "CSystemd"]),
        library("C/CMosquitto", pkgConfig: "libmosquitto", debian: "libmosquitto-dev"),
        adapter("Shell/Messaging", ["Base", "System", "CMosquitto"]),
        // No library to link: libcurl is loaded when it is needed.
        .systemLibrary(name: "CCurl", path: "Sources/C/CCurl"),
        adapter("Shell/HTTPMessaging", ["Base", "System", "CCurl"]),
        library("C/CSodium", pkgConfig: "libsodium", debian: "libsodium-dev"),
        adapter("Shell/Encryption", ["Base", "JSON", "OwnTracks", "CSodium"]),
        // The sockets of the Bluetooth proxy.
        adapter("Shell/ProxyLink", ["Base", "BluetoothProxy", "Encryption", "Runtime", "System"]),
        // For a configuration of room-assistant alone.
        library("C/CYAML", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
        adapter("Shell/YAML", ["CYAML"]),
        library("C/CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),
        adapter("Shell/Storage", ["Base", "Beacon", "Regions", "System", "CSQLite"]),
        library("C/CMicroHTTPD", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
        adapter(
            "Shell/PageServer", ["Base", "Configuration", "Health", "JSON", "OwnTracks", "System", "CMicroHTTPD"],
            resources: [.embedInCode("Page")]),
        adapter(
            "Apps/StatusPage", ["Base", "Beacon", "Gateway", "Health", "JSON", "PageServer", "Status"],
            resources: [.embedInCode("Page")]),

        // What both services carry out their decisions with: store, broker, page, settings, clocks.
        adapter(
            "Shell/Shell",
            [
                "Base", "Configuration", "Encryption", "Health", "JSON", "Messaging", "OwnTracks", "PageServer",
                "Regions", "Runtime", "SiteProtocol", "Storage", "System",
            ]),
        // The service: carries out what the core decides, over radio, store, broker and status page.
        adapter(
            "Apps/GatewayApp",
            [
                "AddressKeys", "Advertising", "Base", "Beacon", "BlueZScanning", "BluetoothProxy", "Configuration",
                "DBus",
                "Encryption",
                "Gateway", "GatewayEntities",
                "HTTPMessaging",
                "Health", "Identities", "JSON", "KernelScanning", "Messaging", "OwnTracks", "PageServer",
                "Presence", "ProxyLink", "ReadingFeed",
                "Regions", "Runtime",
                "Scanning", "ServiceDiscovery", "Shell", "SiteProtocol", "Status", "StatusPage", "Storage", "System",
            ]),
        // The rooms service, over the same store and broker.
        adapter(
            "Apps/RoomsApp",
            [
                "Base", "Beacon", "Configuration", "Health", "JSON", "Messaging", "OwnTracks",
                "Regions",
                "PageServer", "Rooms", "Runtime", "Shell", "SiteCore", "SiteProtocol", "Storage", "System",
            ], resources: [.embedInCode("Page")]),
        // getopt_long's state behind functions.
        .systemLibrary(name: "CGetopt", path: "Sources/C/CGetopt"),
        // The commands of the program, a folder for each subject.
        adapter(
            "Apps/Tools",
            [
                "AddressKeys", "Base", "Beacon", "Configuration", "DBus", "Enrolment", "Gateway", "HTTPMessaging",
                "Health", "Identities", "JSON",
                "KernelScanning", "Messaging", "OwnTracks", "PageServer", "Presence", "Regions", "RoomMessages",
                "RoomsApp", "Rooms", "Runtime",
                "Scanning", "GatewayApp", "ServiceDiscovery", "Shell", "SiteCore", "SiteProtocol", "Status", "Storage",
                "System", "YAML",
                "CGetopt",
            ]),
        .executableTarget(
            name: "ibeacon-gateway", dependencies: ["Tools"], path: "Sources/Apps/ibeacon-gateway",
            swiftSettings: settings,
            linkerSettings: smallProgram),

        tests("BeaconTests", ["Base", "Beacon", "TestSupport"]),
        tests("IdentitiesTests", ["AddressKeys", "Base", "Beacon", "Identities", "TestSupport"]),
        tests("RegionsTests", ["Base", "Beacon", "Identities", "Regions", "TestSupport"]),
        tests("PresenceTests", ["Base", "Beacon", "Regions", "Presence"]),
        tests(
            "OwnTracksTests",
            ["Base", "Configuration", "Identities", "JSON", "Beacon", "Regions", "OwnTracks", "TestSupport"]),
        tests("RoomsTests", ["Base", "Beacon", "Regions", "Rooms", "RoomsSupport", "SiteProtocol"]),
        tests("SiteProtocolTests", ["Base", "Beacon", "JSON", "RoomsSupport", "SiteProtocol"]),
        tests(
            "RoomMessagesTests",
            [
                "Base", "Beacon", "Configuration", "JSON", "OwnTracks", "Regions", "RoomMessages", "RoomRules", "Rooms",
                "RoomsSupport", "SiteCore", "SiteProtocol",
            ]),
        tests("JSONTests", ["JSON"]),
        tests("YAMLTests", ["YAML"]),
        tests(
            "ConfigurationTests", ["Base", "Beacon", "Configuration", "JSON", "OwnTracks", "Regions"]),
        tests("StatusTests", ["Base", "Beacon", "Health", "JSON", "Status"]),
        tests(
            "GatewayAppTests",
            [
                "Advertising", "Base", "Beacon", "BluetoothProxy", "CFaultVFS", "Configuration", "DBus", "DBusSupport",
                "Encryption",
                "Gateway", "GatewayApp", "GatewayEntities", "Health", "HostSupport", "Identities", "JSON",
                "KernelScanning", "Messaging",
                "OwnTracks", "PageServer", "ReadingFeed", "Regions", "Runtime", "Scanning", "ServiceDiscovery",
                "ServiceSupport", "Shell", "SiteProtocol", "Status", "StatusPage", "Storage", "System", "TestSupport",
            ]),
        tests(
            "RoomsAppTests",
            [
                "Base", "Beacon", "Configuration", "Health", "JSON", "Messaging", "OwnTracks", "PageServer", "Regions",
                "Rooms", "RoomsApp", "Runtime", "ServiceSupport", "Shell", "SiteCore", "SiteProtocol", "Storage",
                "TestSupport",
            ]),
        tests(
            "ShellTests",
            [
                "Base", "Configuration", "Health", "JSON", "Messaging", "OwnTracks", "PageServer", "Regions", "Runtime",
                "ServiceSupport", "Shell", "Storage", "System", "TestSupport",
            ]),
        tests("SystemTests", ["Base", "System", "TestSupport"]),
        tests(
            "GatewayTests",
            [
                "AddressKeys", "Identities", "Status", "Base", "Configuration", "Health", "JSON", "Beacon", "Regions",
                "OwnTracks", "Presence", "Gateway", "TestSupport",
            ]),
        tests(
            "ToolsTests",
            [
                "Base", "Beacon", "Enrolment", "Gateway", "Health", "HostSupport", "Identities", "Tools",
                "Configuration", "JSON",
                "KernelScanning", "Messaging", "OwnTracks", "PageServer", "Presence", "Regions", "Runtime", "Scanning",
                "ServiceDiscovery", "Shell", "SiteCore", "SiteProtocol",
                "Status", "StatusPageSupport", "System", "TestSupport", "YAML",
            ], resources: [.copy("RoomAssistant")]),
        tests("ScanningTests", ["Base", "Beacon", "HostSupport", "Scanning", "TestSupport"]),
        tests(
            "KernelScanningTests",
            [
                "Base", "Beacon", "CBluetooth", "HostSupport", "KernelScanning", "Presence", "Regions", "Scanning",
                "System",
                "TestSupport",
            ]),
        tests(
            "AdvertisingTests",
            ["Advertising", "Base", "Beacon", "HostSupport", "KernelScanning", "Scanning", "System"]),
        tests(
            "BlueZScanningTests", ["Base", "Beacon", "BlueZScanning", "DBus", "DBusSupport", "HostSupport", "Scanning"]),
        tests(
            "EnrolmentTests",
            [
                "Base", "Beacon", "DBus", "DBusSupport", "Enrolment", "HostSupport", "Identities", "KernelScanning",
                "Scanning", "System",
            ]),
        tests("RuntimeTests", ["Base", "System", "Runtime"]),
        tests("EncryptionTests", ["Base", "Encryption", "OwnTracks"]),
        tests("MessagingTests", ["Base", "Messaging", "TestSupport"]),
        tests(
            "StatusPageTests",
            [
                "Base", "Configuration", "Health", "JSON", "Status", "OwnTracks",
                "PageServer", "StatusPage", "System", "HostSupport", "StatusPageSupport", "TestSupport",
            ]),
        tests("HTTPMessagingTests", ["Base", "HTTPMessaging", "TestSupport"]),
        tests("DBusTests", ["Base", "CDBus", "DBus", "HostSupport", "System", "TestSupport"]),
        tests("ServiceDiscoveryTests", ["DBus", "DBusSupport", "ServiceDiscovery"]),
        tests(
            "BluetoothProxyTests", ["Base", "Beacon", "BluetoothProxy", "Encryption", "ProxyLink", "Runtime", "System"]),
        tests("ReadingFeedTests", ["Base", "Beacon", "ReadingFeed"]),
        tests(
            "HomeAssistantTests",
            ["Base", "JSON", "Status", "Beacon", "Gateway", "GatewayEntities", "Health", "OwnTracks", "SiteCore"]),
        tests(
            "StorageTests", ["Base", "Beacon", "Regions", "Storage", "CFaultVFS", "StorageCrashChild", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "OldStateTests",
            [
                "Base", "Beacon", "Gateway", "JSON", "Regions", "Rooms", "SiteCore", "SiteProtocol", "Storage",
                "TestSupport",
            ],
            resources: [.copy("Fixtures")]),
        tests(
            "IntegrationTests",
            [
                "Base", "Configuration", "JSON", "Beacon", "Scanning", "Storage", "Encryption", "Messaging",
                "OwnTracks", "Runtime", "Shell", "System", "TestSupport", "ibeacon-gateway",
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
            dependencies: ["Base", "Messaging", "PageServer", "Shell", "Storage", "System"],
            path: "Tests/ServiceSupport", swiftSettings: settings),
        // Rooms and cards as literals.
        .target(
            name: "RoomsSupport", dependencies: ["Beacon", "Rooms", "SiteProtocol"], path: "Tests/RoomsSupport",
            swiftSettings: settings),
        // SQLite's file layer, broken on command.
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        // The same for a whole program, loaded into it.
        .target(name: "CFaultyDisk", path: "Tests/CFaultyDisk"),
        .target(name: "CFalseClock", path: "Tests/CFalseClock"),
        // Writes to a store until it is killed.
        .executableTarget(
            name: "StorageCrashChild", dependencies: ["Base", "Storage"], path: "Tests/StorageCrashChild",
            swiftSettings: settings),
        // Drives one scanner in the virtual host and tells what came.
        .executableTarget(
            name: "scanner-probe",
            dependencies: ["Base", "Beacon", "BlueZScanning", "HostSupport", "KernelScanning", "Scanning"],
            path: "Tests/VirtualHost/Probe", swiftSettings: settings),
        // Serves packets of a feed to the real clients of Tests/BluetoothProxy.
        .executableTarget(
            name: "proxy-probe",
            dependencies: ["Base", "Beacon", "BluetoothProxy", "Encryption", "ProxyLink", "Runtime", "System"],
            path: "Tests/BluetoothProxy/Probe", swiftSettings: settings),
        .executableTarget(
            name: "HotPath",
            dependencies: [
                "AddressKeys", "Base", "Beacon", "Identities", "Regions", "Presence", "ReadingFeed", "Rooms",
                "Scanning",
                "SiteProtocol", "CFloor", "CHeap",
            ],
            path: "Benchmarks/HotPath",
            swiftSettings: settings),
        .executableTarget(
            name: "Parts",
            dependencies: [
                "Base", "Configuration", "JSON", "Beacon", "OwnTracks", "Gateway", "Scanning", "Encryption",
                "Regions", "Status", "Storage",
            ],
            path: "Benchmarks/Parts", swiftSettings: settings),
        // The yardstick in plain C that the hot path is held against.
        .target(name: "CFloor", path: "Benchmarks/CFloor"),
        // Counts allocations.
        .target(name: "CHeap", path: "Benchmarks/CHeap"),
        .executableTarget(
            name: "presence-benchmark", dependencies: ["Base", "Beacon", "Regions", "Presence"],
            path: "Benchmarks/presence",
            exclude: ["run", "held-out", "HeldOut"], swiftSettings: settings),
        .executableTarget(
            name: "rooms-benchmark",
            dependencies: [
                "Base", "Beacon", "CHeap", "ReadingFeed", "Regions", "RoomRules", "Rooms", "RoomsSupport",
                "SiteProtocol",
            ],
            path: "Benchmarks/rooms",
            exclude: ["run", "load", "instructions"], swiftSettings: settings),
        .target(
            name: "StatusPageSupport",
            dependencies: [
                "Base", "Health", "JSON", "Status", "Beacon", "PageServer", "Presence", "Gateway", "OwnTracks",
                "Regions",
                "StatusPage", "HostSupport",
            ],
            path: "Tests/StatusPageSupport", swiftSettings: settings),
        .executableTarget(
            name: "status-page-demo",
            dependencies: [
                "Base", "Configuration", "GatewayEntities", "Health", "HostSupport", "OwnTracks", "PageServer",
                "StatusPageSupport",
            ],
            path: "Tests/StatusPageDemo", swiftSettings: settings),
    ]
)

// A part of the package is built sooner. Scripts/targets.py names its targets, and all that they need.
if let part = Context.environment["IBEACON_GATEWAY_TARGETS"] {
    let wanted = Set(part.split(separator: ",").map(String.init))
    package.targets.removeAll { !wanted.contains($0.name) }
    package.products.removeAll { product in
        (product as? Product.Library)?.targets.allSatisfy(wanted.contains) != true
    }
}
