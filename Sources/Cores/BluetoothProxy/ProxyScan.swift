/// What the scanner behind a proxy does, in the words of ESPHome's API.
package struct ProxyScan: Hashable, Sendable {
    package enum State: UInt8, Sendable {
        case idle = 0
        case starting = 1
        case running = 2
        case failed = 3
        case stopping = 4
        case stopped = 5
    }

    package enum Mode: UInt8, Sendable {
        case passive = 0
        case active = 1
    }

    package var state: State
    package var mode: Mode
    /// What Home Assistant is to leave the scanner at. With `active` it asks for windows of active scan.
    package var configuredMode: Mode

    package init(state: State, mode: Mode = .passive, configuredMode: Mode = .passive) {
        (self.state, self.mode, self.configuredMode) = (state, mode, configuredMode)
    }
}
