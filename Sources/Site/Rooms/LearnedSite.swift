package import SiteProtocol

/// What was learned about a site, as a value that can be stored and restored.
package struct LearnedSite: Hashable, Sendable {
    /// A moment in a room.
    package struct Moment: Hashable, Sendable {
        /// The level of one gateway.
        package struct Level: Hashable, Sendable {
            /// Index in `gateways`.
            package var gateway: Int
            /// Eighths of a dB, -1024 … 1023; nil if the gateway was not listening.
            package var eighths: Int?

            package init(gateway: Int, eighths: Int?) { (self.gateway, self.eighths) = (gateway, eighths) }
        }

        /// Seconds that the moment represents, more than 0, at most 30.
        package var seconds: Float
        package var levels: [Level]
        /// What counts for nothing until it is known whether its gateway was carried to another room; nil: the gateway heard nothing.
        package var aside: [Level]

        package init(seconds: Float, levels: [Level], aside: [Level] = []) {
            (self.seconds, self.levels, self.aside) = (seconds, levels, aside)
        }
    }

    /// How tags were heard in a room, learned from the engine's own decisions.
    package struct Levels: Hashable, Sendable {
        /// What one gateway heard.
        package struct Cell: Hashable, Sendable {
            /// Index in `gateways`.
            package var gateway: Int
            /// Seconds in which it heard the tag, and in which it was not listening.
            package var heard: Float
            package var unknown: Float
            /// dBm.
            package var mean: Float
            /// Squared deviations from the mean, dB², summed over seconds.
            package var squares: Float

            package init(gateway: Int, heard: Float, unknown: Float, mean: Float, squares: Float) {
                (self.gateway, self.heard, self.unknown) = (gateway, heard, unknown)
                (self.mean, self.squares) = (mean, squares)
            }
        }

        /// Total seconds; 0 if nothing was learned.
        package var seconds: Float
        package var cells: [Cell]

        package init(seconds: Float = 0, cells: [Cell] = []) { (self.seconds, self.cells) = (seconds, cells) }
    }

    package struct Gateway: Hashable, Sendable {
        package var name: String
        /// Index in `rooms`; nil if the gateway's room is unknown.
        package var room: Int?
        /// Whether its messages count: it has sent enough of them.
        package var isKnown: Bool
        /// Index in `rooms` of the room that it named before, while it is unknown whether it was carried from there.
        package var formerRoom: Int?

        package init(name: String, room: Int?, isKnown: Bool = true) {
            (self.name, self.room, self.isKnown) = (name, room, isKnown)
        }
    }

    package struct LearnedRoom: Hashable, Sendable {
        package var name: RoomName
        /// From training runs, the oldest first.
        package var labelled: [Moment]
        /// From the engine's own decisions.
        package var own: Levels
        /// The mean probability, 0 … 1, that the levels alone gave to the room while it was trained.
        package var placed: Float
        /// How often tags moved between this room and others, which are given by their indices in `rooms`.
        package var exits: [Exit]
        /// What counts for nothing until it is known whether a gateway was carried from this room; nil if there is no such gateway.
        package var aside: Aside?

        package struct Aside: Hashable, Sendable {
            /// As `LearnedRoom.placed`.
            package var placed: Float
            package var exits: [Exit]

            package init(placed: Float, exits: [Exit]) { (self.placed, self.exits) = (placed, exits) }
        }

        package struct Exit: Hashable, Sendable {
            package var room: Int
            /// More than 0, at most 200. An unlabelled change counts less than 1.
            package var count: Float

            package init(room: Int, count: Float) { (self.room, self.count) = (room, count) }
        }

        package init(name: RoomName, labelled: [Moment], own: Levels, placed: Float = 0, exits: [Exit] = []) {
            (self.name, self.labelled, self.own, self.placed, self.exits) = (name, labelled, own, placed, exits)
        }
    }

    package var gateways: [Gateway] = []
    package var rooms: [LearnedRoom] = []

    package init() {}
}
