import Base

/// What the pages of both services say alike about care.
extension Finding {
    /// A newer version can be installed.
    package init(newer version: String, than own: String) {
        self.init(
            .warning, "version", "version \(version) can be installed; this is \(own)",
            remedy: "sudo apt-get install --only-upgrade -y ibeacon-gateway")
    }

    /// The page of the service is not served although it is wanted. The service does everything else.
    ///
    /// - Parameter reason: In a sentence that names the page.
    package init(unservedPage reason: String, remedy: String) {
        self.init(.warning, "page", reason, remedy: remedy)
    }

    /// Beacons whose batteries are low.
    ///
    /// - Parameters:
    ///   - batteries: The names of the beacons' regions or tags, each with its level; the emptiest first.
    ///   - most: The most of them in the text.
    /// - Returns: nil if there are none.
    package init?(lowBatteries batteries: [String], named most: Int) {
        guard !batteries.isEmpty else { return nil }
        let list = batteries.namedFew(most: most, separator: "; ", and: "; and ")
        self.init(
            .warning, "battery", "low batteries: \(list)",
            remedy: "replace the battery; a beacon with an empty battery looks like one that left")
    }

    /// Beacons that were never heard.
    ///
    /// - Parameters:
    ///   - names: Of the beacons' regions or tags.
    ///   - most: The most names in the text.
    /// - Returns: nil if there are none.
    package init?(unheard names: [String], named most: Int) {
        guard !names.isEmpty else { return nil }
        self.init(
            .warning, "unheard", "never heard: \(names.namedFew(most: most))",
            remedy:
                "hold it to a gateway: 'ibeacon-gateway scan' shows the numbers that it sends; nothing there means an empty battery"
        )
    }
}
