"""How well the rooms that a program said agree with the true ones, as Benchmarks/README.md defines it (Benchmarks/rooms/Scoring)."""
# A room that the tag left so many seconds ago is no false one; a shorter stay is passed through.
TOLERANCE, SHORTEST_STAY = 15.0, 4.99


def sessions(truth):
    """The stays of each session: [[room, from, to], …]."""
    found, last = [], None
    for when, name, room in truth:
        if name != last:
            found.append([])
            last = name
        if found[-1]:
            found[-1][-1][2] = when
        if room is not None:
            found[-1].append([room, when, when])
    return found


class Score:
    """How well reports, [[time, room or None], …] in the order of time, agree with the stays of all sessions."""

    def __init__(self, stays_of_sessions, reports):
        self.right = self.seconds = self.false = self.never = self.changes = 0
        self.hours, self.delays = 0.0, []
        for stays in stays_of_sessions:
            begin, end = stays[0][1], stays[-1][2]
            self.hours += (end - begin) / 3600
            before = [room for when, room in reports if when < begin]
            self.count([[begin, before[-1] if before else None]] + [each for each in reports if begin <= each[0] <= end], stays)

    def count(self, reports, stays):
        second = stays[0][1]
        while second <= stays[-1][2]:
            self.seconds += 1
            said = [room for when, room in reports if when <= second][-1]
            self.right += said == [room for room, begin, _ in stays if begin <= second][-1]
            second += 1
        for (_, before), (when, room) in zip(reports, reports[1:]):
            self.false += before is not None and room is not None and room != before and not any(
                stay == room and end > when - TOLERANCE and begin <= when for stay, begin, end in stays)
        for room, begin, end in stays[1:]:
            if end - begin < SHORTEST_STAY:
                continue
            self.changes += 1
            said = [each for when, each in reports if when <= begin]
            later = [when - begin for when, each in reports if begin < when <= end and each == room]
            if said[-1] == room:
                self.delays.append(0.0)
            elif later:
                self.delays.append(later[0])
            else:
                self.never += 1

    def __str__(self):
        delays = sorted(self.delays)
        half, tenth = (delays[min(int(len(delays) * share), len(delays) - 1)] if delays else float("nan") for share in (.5, .9))
        return (f"{self.right / self.seconds:.3f} | {self.false / self.hours:.1f} | {half:.1f}, {tenth:.1f} | "
                f"{self.never} of {self.changes}")
