"""The messages of the integration (custom_components/ibeacon_rooms/protocol.py), without Home Assistant.

Tests/Fixtures/site holds messages of both programs. Tests/GatewayAppTests/SiteFixtureTests.swift tests the other side on the same
files.

Needs: python3 and libsodium, which the gateway needs too: where PyNaCl is not installed, its SecretBox is made of it here.
"""
import ctypes
import ctypes.util
import os
import pathlib
import sys
import types
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "custom_components/ibeacon_rooms"))
sys.dont_write_bytecode = True

TAG = "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"
KEY = "EC0234A357C8AD05341010A60A397D9B"
SITE_KEY = "correct horse battery staple"


def provide_secret_box():
    try:
        import nacl.secret  # noqa: F401, PLC0415
        return
    except ImportError:
        sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))

    class SecretBox:
        def __init__(self, key):
            self.key = key

        def encrypt(self, plain):
            nonce, sealed = os.urandom(24), ctypes.create_string_buffer(len(plain) + 16)
            sodium.crypto_secretbox_easy(sealed, plain, ctypes.c_ulonglong(len(plain)), nonce, self.key)
            return nonce + sealed.raw

        def decrypt(self, data):
            plain = ctypes.create_string_buffer(max(0, len(data) - 40))
            if len(data) < 40 or sodium.crypto_secretbox_open_easy(
                    plain, data[24:], ctypes.c_ulonglong(len(data) - 24), data[:24], self.key):
                raise ValueError("not authentic")
            return plain.raw

    sys.modules["nacl"], secret = types.ModuleType("nacl"), types.ModuleType("nacl.secret")
    secret.SecretBox = SecretBox
    sys.modules["nacl.secret"] = secret


provide_secret_box()
import protocol  # noqa: E402


def fixture(name):
    return (TOP / "Tests/Fixtures/site" / name).read_bytes()


class Fixtures(unittest.TestCase):
    def test_what_a_scanner_heard_is_the_text_of_a_gateway(self):
        feed = protocol.Feed("f3a9c0de00000001", 100.0)
        feed.sequence = 7
        for level, at in ((-70, 100.2), (-66, 100.5), (-72, 100.75), (-69, 100.9)):
            feed.add(TAG, -59, level, at)
        feed.add(protocol.identity(f"irk:{KEY}"), -59, -80, 100.25)
        self.assertEqual(feed.messages(101.0, 1.0, True, 0.1), [fixture("heard.json")])

    def test_the_card(self):
        phone = protocol.identity(f"irk:{KEY}")
        card = protocol.card("Küche", "1.0.0", "Home Assistant esphome", 1_700_000_000, "B8:27:EB:00:22:01", [phone])
        self.assertEqual(card, fixture("card.json"))

    def test_the_lists_of_a_site(self):
        phone = protocol.identity(f"irk:{KEY}")
        self.assertEqual(protocol.tags(fixture("tags.json")), {TAG, phone})
        keys = protocol.phones(fixture("phones.json"), "kitchen")
        self.assertEqual(keys[phone], (bytes.fromhex(KEY),))
        # A tag may have been made with the octets in the other order.
        other = protocol.identity("irk:" + bytes.fromhex(KEY)[::-1].hex().upper())
        self.assertEqual(keys, {phone: (bytes.fromhex(KEY),), other: (bytes.fromhex(KEY),)})
        with self.assertRaises(ValueError):
            protocol.phones(fixture("phones.json"), "another")

    def test_what_either_program_sealed_is_opened(self):
        seal = protocol.Seal(SITE_KEY)
        for name in ("sealed-by-gateway.json", "sealed-by-integration.json"):
            self.assertEqual(seal.opened(fixture(name)), fixture("heard.json"))


class Sealing(unittest.TestCase):
    def test_what_is_sealed_is_opened_with_the_same_key_alone(self):
        sealed = protocol.Seal(SITE_KEY).sealed(b'{"v":1}')
        self.assertEqual(protocol.Seal(SITE_KEY).opened(sealed), b'{"v":1}')
        for key, payload in ((SITE_KEY + "!", sealed), ("", sealed), (SITE_KEY, b'{"v":1}'), (SITE_KEY, b"\xff"),
                             (SITE_KEY, b'{"_type":"encrypted","data":"?"}'), (SITE_KEY, b'{"_type":"encrypted"}')):
            with self.assertRaises(ValueError, msg=(key, payload)):
                protocol.Seal(key).opened(payload)

    def test_an_empty_message_stays_empty_and_without_a_key_all_is_plain(self):
        self.assertEqual(protocol.Seal(SITE_KEY).sealed(b""), b"")
        self.assertEqual(protocol.Seal("").sealed(b"x"), b"x")
        self.assertEqual(protocol.Seal("").opened(b'{"tags":[]}'), b'{"tags":[]}')


class Lists(unittest.TestCase):
    def test_what_is_no_list_is_an_error(self):
        for payload in (b"", b"[]", b"1", b"{}", b'{"tags":{}}', b'{"tags":[1]}', b'{"tags":[{}]}', b'{"tags":[{"uuid":"x"}]}',
                        b'{"tags":[{"uuid":1}]}', b'{"tags":[{"uuid":"CA271EAE-5FA8-4E80-8F08-2A302A95A959","major":"x"}]}',
                        b"[" * 100_000, b"\xff"):
            with self.assertRaises(ValueError, msg=payload[:80]):
                protocol.tags(payload)
        for payload in (b"", b"[]", b'{"v":1,"gateway":"a"}', b'{"v":1,"gateway":"a","list":1}', b'{"v":2,"gateway":"a","list":""}',
                        b'{"v":1,"gateway":"a","list":"' + b"x" * 32 + b' Jane"}'):
            with self.assertRaises(ValueError, msg=payload):
                protocol.phones(payload, "a")

    def test_at_most_ten_thousand_tags_count(self):
        tag = '{"uuid":"CA271EAE-5FA8-4E80-8F08-2A302A95A959","major":1,"minor":%d}'
        payload = '{"tags":[%s]}' % ",".join(tag % number for number in range(10_005))
        self.assertEqual(len(protocol.tags(payload.encode())), 10_000)

    def test_a_key_of_unknown_order_is_tried_in_both(self):
        keys = protocol.phones(b'{"v":1,"gateway":"a","list":"# mine\\n%s Jane"}' % KEY.encode(), "a")
        octets = bytes.fromhex(KEY)
        self.assertEqual(list(keys.values()), [(octets, octets[::-1])] * 2)

    def test_the_uuid_of_an_address_is_that_of_a_gateway(self):
        self.assertEqual(protocol.identity("mac:C0:FF:EE:00:00:01"), "533B9EE0-DC87-5E74-A527-5E88F94E944D:0:0")


class Packets(unittest.TestCase):
    content = b"\x02\x15" + bytes.fromhex("CA271EAE5FA84E808F082A302A95A959") + b"\0\x01\0\x07\xc5"

    def test_an_ibeacon_is_whole_or_has_one_byte_more(self):
        self.assertEqual(protocol.ibeacon(self.content), (TAG, -59))
        self.assertEqual(protocol.ibeacon(self.content + b"\x42"), (TAG, -59))
        for content in (b"", self.content[:-1], self.content + b"\0\0", b"\x02\x16" + self.content[2:]):
            self.assertIsNone(protocol.ibeacon(content))

    def test_apples_data_is_found_in_a_packet_that_may_be_malformed(self):
        frame = b"\x1a\xff\x4c\0" + self.content
        for data, found in ((frame, self.content), (b"\x02\x01\x06" + frame, self.content), (b"\x02\x01\x06", b""), (frame[:-1], b""),
                            (b"\xff\xff\x4c\0", b""), (b"\0" + frame, b""), (b"", b""), (b"\x03\xff\x59\0" + frame, self.content)):
            self.assertEqual(protocol.apple(data), found, data)


class Feeds(unittest.TestCase):
    def times(self, feed, seconds, heard=()):
        """The seconds in which there is a message."""
        found = []
        for second in range(1, seconds + 1):
            if second in heard:
                feed.add(TAG, -59, -70, second - 0.5)
            if feed.messages(float(second), 1.0, True, 0.1):
                found.append(second)
        return found

    def test_a_scanner_that_hears_no_tag_says_so_every_ten_seconds(self):
        self.assertEqual(self.times(protocol.Feed("b", 0.0), 31), [1, 11, 21, 31])

    def test_for_half_a_minute_after_a_tag_it_speaks_each_second(self):
        self.assertEqual(self.times(protocol.Feed("b", 0.0), 60, heard=[5]), [1, *range(5, 36), 45, 55])

    def test_a_scanner_that_begins_or_stops_to_listen_says_so_at_once(self):
        feed = protocol.Feed("b", 0.0)
        found = [b'"listening":1000' in message for second in range(1, 8)
                 for message in feed.messages(float(second), 1.0, second not in (4, 5), 0.1)]
        self.assertEqual(found, [True, False, True])

    def test_its_own_life_sign_are_the_reports(self):
        for since, listening, reports in ((0.4, True, 1), (30.0, True, 0), (0.4, False, 0)):
            [message] = protocol.Feed("b", 0.0).messages(1.0, 1.0, listening, since)
            self.assertIn(b'"reports":%d,' % reports, message)

    def test_more_than_256_tags_take_several_messages_of_one_second(self):
        feed = protocol.Feed("b", 0.0)
        for number in range(600):
            feed.add(f"CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:{number}", -59, -70, 0.5)
        messages = feed.messages(1.0, 1.0, True, 0.1)
        self.assertEqual([message.count(b'"id"') for message in messages], [256, 256, 88])
        self.assertEqual([b'"seq":%d,"at":1000,' % n in messages[n] for n in range(3)], [True] * 3)

    def test_what_cannot_be_sent_is_dropped_and_leaves_out_a_number(self):
        feed = protocol.Feed("b", 0.0)
        feed.messages(1.0, 1.0, True, 0.1)
        feed.add(TAG, -59, -70, 1.5)
        feed.skip()
        feed.add(TAG, -59, -60, 2.5)
        [message] = feed.messages(3.0, 1.0, True, 0.1)
        self.assertIn(b'"seq":2,', message)
        self.assertIn(b'"n":1,"rssi":-60', message)

    def test_after_a_stall_one_second_counts_and_a_number_is_left_out(self):
        feed = protocol.Feed("b", 0.0)
        feed.messages(1.0, 1.0, True, 0.1)
        for now, seconds, number in ((2.9, 1.9, 1), (32.9, 30.0, 3), (33.9, 1.0, 4)):
            feed.add(TAG, -59, -70, now - 0.1)
            [message] = feed.messages(now, seconds, True, 0.1)
            self.assertIn(b'"seq":%d,' % number, message)
            self.assertIn(b'"listening":1000,', message)

    def test_a_receiver_keeps_its_name(self):
        self.assertEqual(protocol.receiver("B8:27:EB:00:22:01"), "ha-b827eb002201")


if __name__ == "__main__":
    unittest.main()
