package import JSON
package import Regions

/// A refused waypoint, or an accepted waypoint with a remark.
package struct WaypointProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its place in the list, from 0.
    package let index: Int
    /// Its `desc` or else its `rid`, shortened; empty if it has neither.
    package let name: String
    /// In words for the author.
    package let reason: String

    package var description: String {
        name.isEmpty ? "waypoint \(index): \(reason)" : "waypoint \(index) ('\(name)'): \(reason)"
    }
}

/// Why a value is no list of waypoints.
package struct WaypointsError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}

/// The changes of a list of waypoints. A bad waypoint does not affect the others.
package struct WaypointsReading: Hashable, Sendable {
    /// Problems and remarks that are kept in words; more are only counted, since a hostile message
    /// could fill a disk with them.
    package static let mostProblems = 100

    /// The steps of the merge, in the order of the list; for `RegionSet.apply`.
    package private(set) var changes: [RegionChange] = []
    /// The first waypoints that were skipped.
    package private(set) var problems: [WaypointProblem] = []
    /// How many were skipped in all.
    package private(set) var problemCount = 0
    /// Accepted waypoints that may have another effect than their author expects.
    package private(set) var remarks: [WaypointProblem] = []

    /// No waypoints.
    package init() {}

    /// Reads an object `{"_type":"waypoints","waypoints":[…]}` (an `.otrw` file, or the argument of
    /// `setWaypoints`), the bare array that some tools send, one waypoint alone, or the waypoints of a
    /// whole configuration.
    package init(_ json: JSONValue, base: NumberBase = .auto) throws(WaypointsError) {
        var reader = WaypointReader(base: base)
        for (index, element) in try Self.elements(of: json).enumerated() {
            do throws(WaypointRejection) {
                changes.append(try reader.change(from: element))
                for remark in reader.remarks where remarks.count < Self.mostProblems {
                    remarks.append(WaypointProblem(index: index, name: Self.name(of: element), reason: remark))
                }
            } catch {
                problemCount += 1
                guard problems.count < Self.mostProblems else { continue }
                problems.append(WaypointProblem(index: index, name: Self.name(of: element), reason: error.reason))
            }
        }
    }

    private static func elements(of json: JSONValue) throws(WaypointsError) -> [JSONValue] {
        switch json {
        case .array(let elements): return elements
        case .object(let members):
            switch members["_type"] {
            case "waypoint": return [json]
            case "waypoints", "configuration": break
            case let type:
                throw WaypointsError(
                    description: "_type is \(type?.shortened ?? "missing"); 'waypoints' should stand there")
            }
            // Everything but `_type` has a default; the default of `waypoints` is none.
            guard let waypoints = members["waypoints"], waypoints != .null else { return [] }
            guard let elements = waypoints.array else {
                throw WaypointsError(description: "waypoints is \(waypoints.kindName); an array should stand there")
            }
            return elements
        default:
            throw WaypointsError(
                description:
                    "\(json.kindName) is no list of waypoints; write {\"_type\":\"waypoints\",\"waypoints\":[…]}")
        }
    }

    private static func name(of element: JSONValue) -> String {
        JSON.shortened(element["desc"]?.string ?? element["rid"]?.string ?? "")
    }
}
