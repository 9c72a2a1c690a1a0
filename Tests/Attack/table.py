"""The table of rows: what the second attack on 82a7d5f found, as it is tried here, and what is wanted. A row passes if all its
parts do.

Not tried here, because it takes a day: the daily prune of row 14."""
import collections

import clocks
import load
import names
import readings
import services

# `alone`: nothing else runs meanwhile, because it measures the machine or takes all of it.
Part = collections.namedtuple("Part", "row tried wanted attack alone", defaults=(False,))

PARTS = (
    # The longest come first.
    Part(1, "the service's clock is slewed, 8 % for 80 s", "in the next room within 20 s", clocks.runs_slow),
    Part(1, "a gateway's clock stands still for 20 s", "in its room within 25 s", clocks.stands_still),
    Part(1, "a backlog of 20 s arrives at once", "0 s in its room, and what comes next counts", clocks.backlog),
    Part(1, "bursts that are 6 to 16 s late", "the problem is 'late', with its own advice", clocks.late_is_named),
    Part(2, "a gateway hears a tag for one second, and dies", "0 s in its room", readings.dead_gateway),
    Part(3, "one message of an invented gateway", "0 s in its room", readings.one_message),
    Part(3, "one message of an invented node", "0 s in its room", readings.one_message_of_a_node),
    Part(3, "a gateway that is really new", "in its room within 12 s", readings.new_gateway_counts),
    Part(4, f"{names.JUNK} junk cards, emptied again", "new gateways count; no junk is shown", names.junk_gateways),
    Part(4, f"{names.JUNK} junk rooms, forgotten again", "a new room is trained", names.junk_rooms),
    Part(5, "a gateway's own boot with seq 2^62", "in the next room within 15 s", readings.sequence_jumps),
    Part(6, "32 invented services", "two active for at most 12 s, at most 3 lists a second", services.invented_services),
    Part(8, "start before the clock is set", "nothing with a time of 1970, and reported with the right time",
         clocks.before_the_clock_is_set),
    Part(9, "the only service loses its state", "no tag of the list is lost; it asks to adopt, which works", services.lost_state),
    Part(9, "a list that is sealed with another key", "stays", services.sealed_list),
    Part(10, "a standby with an older list takes over", "no tag is lost", services.older_standby),
    Part(11, "names with ESC and directions, on a terminal", "no command lets them through", names.hostile_terminal),
    Part(12, "another program listens on the gateway's port", "the token is kept; at most 5 s", load.another_listener),
    Part(12, "another program listens on the rooms' port", "the token is kept; at most 5 s", load.another_listener_rooms),
    Part(13, "a forged state since 2^62, at a restart", "leave Kitchen, enter Hall; each once in the history",
         services.forged_state),
    Part(13, "the same at a takeover", "enter Kitchen, leave Kitchen, enter Hall", services.forged_state_at_takeover),
    Part(14, "ten years ahead, and SIGHUP", "no visit is lost; 'days' 0 deletes all", clocks.jump_prunes),
    Part(16, "retained commands", "refused: the tag stays", services.retained_commands),
    Part(18, "a forged card of a service", "no error in the log, all counted", services.forged_service_card),
    Part(19, "telemetry of 59 V", "no battery; that of 2.44 V is shown", readings.impossible_voltage),
    Part(20, "sealed messages of 300 invented gateways", "nothing retained", services.unbelieved_gateways),
    Part(17, "boots of 60 kB", "at most 24 MB more", readings.long_boots, True),
    Part(15, "60,000 retained junk states", "none left, the disk not blamed, turns of at most 100 ms", names.junk_states, True),
    Part(7, "a flood of one mosquitto_pub", "at 5,000 a second: page and SIGTERM within 1 s, the standby stays", load.flood,
         True),
)
ROWS = range(1, 21)
