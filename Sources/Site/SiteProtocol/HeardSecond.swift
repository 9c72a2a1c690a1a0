/// One message of a gateway: what it heard in one second.
package struct HeardSecond: Hashable, Sendable {
    /// Random for each start of the gateway (the member `boot`); empty for a gateway without a clock of its own (ESPresense).
    package var startID: String
    package var sequence: Int64
    /// End of the second on the gateway's monotonic clock; nil for a gateway without one.
    package var at: Duration?
    /// How long the radio listened in the second.
    package var listening: Duration
    /// Advertisements of any kind that were received since the previous message.
    package var reports: Int64
    package var readings: [Reading]

    package init(
        startID: String, sequence: Int64, at: Duration?, listening: Duration, reports: Int64, readings: [Reading]
    ) {
        self.startID = startID
        self.sequence = sequence
        self.at = at
        self.listening = listening
        self.reports = reports
        self.readings = readings
    }
}
