package import Regions

/// A tag as it is described to the engine.
package struct TagDescription: Hashable, Sendable {
    /// Permanent; a topic level.
    package var id: String
    package var name: String
    package var pattern: BeaconPattern
    /// Whether it is a device that is known by its key: its pauses are long.
    package var isPhone: Bool

    package init(id: String, name: String, pattern: BeaconPattern, isPhone: Bool = false) {
        self.id = id
        self.name = name
        self.pattern = pattern
        self.isPhone = isPhone
    }
}
