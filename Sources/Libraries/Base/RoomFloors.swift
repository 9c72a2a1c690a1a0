/// The floors that a room can be on, in the configuration and in the messages of a site; 0 is the ground floor.
package let roomFloors: ClosedRange<Int64> = -9...99
