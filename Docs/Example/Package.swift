// swift-tools-version: 6.2
import PackageDescription

/// Programs that use the libraries of this project as another package would.
let package = Package(
    name: "Example",
    dependencies: [.package(name: "ibeacon-gateway", path: "../..")],
    targets: [
        example("EnterAndLeave", ["Base", "Beacon", "Presence", "Regions"]),
        example("Messages", ["Beacon", "OwnTracks", "Regions"]),
    ]
)

func example(_ name: String, _ libraries: [String]) -> Target {
    .executableTarget(name: name, dependencies: libraries.map { .product(name: $0, package: "ibeacon-gateway") })
}
