import Regions
import Testing

@testable import OwnTracks

/// Distances on the sphere that circles are measured with.
@Suite struct GeometryTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let from: (Double, Double)
        let to: (Double, Double)
        /// Metres, and what the last figure may be wrong by. One degree of a great circle is 111,195.1 m.
        let metres: Double
        let tolerance: Double
    }

    private static let degree = 6_371_008.8 * Double.pi / 180

    private static let cases = [
        Case(testDescription: "the same place", from: (52, 6), to: (52, 6), metres: 0, tolerance: 0),
        Case(testDescription: "a degree north", from: (52, 6), to: (53, 6), metres: degree, tolerance: 0.01),
        Case(testDescription: "a degree on the equator", from: (0, 0), to: (0, 1), metres: degree, tolerance: 0.01),
        Case(
            testDescription: "a degree east at 60° north", from: (60, 0), to: (60, 1), metres: 55_597.01,
            tolerance: 0.01),
        Case(
            testDescription: "across the date line", from: (0, 179.5), to: (0, -179.5), metres: degree,
            tolerance: 0.01),
        Case(testDescription: "pole to pole", from: (90, 0), to: (-90, 0), metres: 180 * degree, tolerance: 0.01),
        Case(
            testDescription: "over the pole", from: (89.5, 0), to: (89.5, 180), metres: degree, tolerance: 0.01),
        Case(testDescription: "antipodes", from: (0, 0), to: (0, 180), metres: 180 * degree, tolerance: 0.01),
        Case(
            testDescription: "a millionth of a degree", from: (48.87069, 2.34916), to: (48.870691, 2.34916),
            metres: 0.1112, tolerance: 0.0001),
        Case(
            testDescription: "London to New York", from: (51.5007, -0.1246), to: (40.6892, -74.0445),
            metres: 5_574_848.16, tolerance: 0.01),
    ]

    @Test(arguments: cases)
    func `The distance of two places is that of the great circle`(case: Case) {
        let from = Coordinates(latitude: `case`.from.0, longitude: `case`.from.1)
        let to = Coordinates(latitude: `case`.to.0, longitude: `case`.to.1)
        #expect(abs(distance(from: from, to: to) - `case`.metres) <= `case`.tolerance)
        #expect(distance(from: from, to: to) == distance(from: to, to: from))
    }

    @Test func `A place on the border is in the circle, and one metre further is not`() {
        let centre = Coordinates(latitude: 0, longitude: 0)
        let circle = Region(
            rid: "c", description: .init(name: "C", pattern: nil), timestamp: 1, coordinates: centre, radius: 1000)
        #expect(circle.contains(Coordinates(latitude: 999.9 / Self.degree, longitude: 0)))
        #expect(!circle.contains(Coordinates(latitude: 1001 / Self.degree, longitude: 0)))
        let border = Coordinates(latitude: 0.01, longitude: 0)
        let exact = Region(
            rid: "c", description: .init(name: "C", pattern: nil), timestamp: 1, coordinates: centre,
            radius: distance(from: centre, to: border))
        #expect(exact.contains(border))
    }
}
