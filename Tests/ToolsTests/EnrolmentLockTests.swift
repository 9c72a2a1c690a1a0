import Shell
import System
import TestSupport
import Testing

@testable import Tools

/// One enrolment at a time on a machine.
@Suite struct EnrolmentLockTests {
    @Test func `A second enrolment is refused at once, and says what to wait for`() throws {
        let directory = try TemporaryDirectory()
        let first = try PhoneEnrolment.lock(in: directory.path)
        let failure = #expect(throws: Failure.self) { _ = try PhoneEnrolment.lock(in: directory.path) }
        #expect(failure?.code == .temporaryFailure)
        #expect(failure?.message.contains("another 'phones add'") == true)
        _ = consume first
    }

    @Test func `When one has ended, the next may begin`() throws {
        let directory = try TemporaryDirectory()
        _ = try PhoneEnrolment.lock(in: directory.path)
        _ = try PhoneEnrolment.lock(in: directory.path)
    }
}
