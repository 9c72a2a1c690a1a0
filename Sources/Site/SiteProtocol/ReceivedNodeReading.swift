package import Beacon

/// A reading of an ESPresense node, which is decoded only when it is known of which beacon it is: nodes publish every device nearby.
package struct ReceivedNodeReading: Hashable, Sendable {
    private let payload: [UInt8]

    package init(_ payload: some Sequence<UInt8>) { self.payload = Array(payload) }

    /// - Returns: nil if it is the message of a `VirtualNode`.
    /// - Throws: The first error in the payload.
    package func second(of beacon: BeaconID) throws(FeedError) -> HeardSecond? {
        try FeedDecoder.espresense(beacon, payload)
    }
}
