import Beacon
import Regions
import SiteCore
import System
import Testing

@testable import Tools

@Suite struct HistoryTagTests {
    private static let tags = [("jane", "Jane"), ("keys", "Car keys"), ("jane-2", "JOAN")].map { id, name in
        TagIdentity(id: id, name: name, pattern: BeaconPattern(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 7))
    }
    /// Those with a history; old and Joan were removed.
    private static let ids = ["Joan", "jane", "old"]

    @Test(
        arguments: [
            ("Jane", "jane"), ("jane", "jane"), ("JANE", "jane"), ("car keys", "keys"), ("KEYS", "keys"),
            ("old", "old"), ("OLD", "old"),
            // The id as it is written counts before another case of a name.
            ("Joan", "Joan"), ("joan", "jane-2"),
        ])
    func `The history finds a tag by name or id in any case, and a removed one by its id`(word: String, id: String)
        throws
    {
        #expect(try RoomsHistoryCommand.id(of: word, among: Self.tags, Self.ids) == id)
    }

    @Test(
        arguments: [
            ("Jnae", "there is no tag 'Jnae', and no history of one; did you mean 'Jane'?"),
            ("odl", "there is no tag 'odl', and no history of one; did you mean 'old'?"),
            ("bicycle", "there is no tag 'bicycle', and no history of one"),
        ])
    func `A tag that there is not, and was not, is bad data`(word: String, text: String) {
        do throws(Failure) {
            _ = try RoomsHistoryCommand.id(of: word, among: Self.tags, Self.ids)
            Issue.record("no failure")
        } catch {
            #expect(error.code == .badData && error.message == text)
        }
    }
}
