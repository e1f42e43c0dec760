"""What every People promises, as tests: subclass `PeopleConformance`, give `open`, and run it with pytest."""

from __future__ import annotations

from functools import partial

from reconvene.errors import UserError
from reconvene.people_ports import People, Person
from reconvene.testing.samples import refused

ADA, BOB = Person("ada", "admin"), Person("bob", "decider", ("finance", "legal"), "bsmith")
_THEN, _NOW, _LATER = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "2026-02-01T00:00:00.000Z"


class PeopleConformance:
    """`open` gives the people of one and the same home, each time anew."""

    def open(self) -> People:
        raise NotImplementedError

    def test_nobody_is_there_at_first(self) -> None:
        people = self.open()
        assert people.everyone() == []
        assert people.find("ada") is people.by_account("ada") is people.by_token("rcv_", _NOW) is None

    def test_each_change_is_another_moment_for_everybody(self) -> None:
        people, other = self.open(), self.open()
        people.add(ADA)
        before = people.moment(), other.moment()
        assert before == (people.moment(), other.moment())
        people.change(Person("ada", "admin", ("finance",)))
        now = people.moment(), other.moment()
        assert now[0] != before[0]
        assert now[1] != before[1]

    def test_what_is_known_of_a_token_is_told_to_who_has_it_as_long_as_it_admits(self) -> None:
        people = self.open()
        people.add(ADA)
        made, token = people.issue("ada", "laptop", _THEN, _LATER)
        assert self.open().token(token, _NOW) == made
        assert people.token(token, _LATER) is people.token("rcv_", _NOW) is None
        people.revoke(made.id, _NOW)
        assert people.token(token, _NOW) is None

    def test_who_was_added_is_there_for_everybody(self) -> None:
        people = self.open()
        people.add(BOB)
        people.add(ADA)
        assert self.open().everyone() == [ADA, BOB]
        assert self.open().find("bob") == BOB

    def test_an_account_leads_to_its_person_and_a_name_stands_for_its_own_account(self) -> None:
        people = self.open()
        people.add(ADA)
        people.add(BOB)
        assert people.by_account("bsmith") == BOB
        assert people.by_account("ada") == ADA
        assert people.by_account("bob") is None, "bob has another account: whoever has that of his name is not him"

    def test_a_name_and_an_account_are_one_persons(self) -> None:
        people = self.open()
        people.add(ADA)
        people.add(BOB)
        for taken in (ADA, Person("eve", "admin", (), "bsmith"), Person("eve", "admin", (), "ada")):
            refused(UserError, partial(people.add, taken))
        refused(UserError, partial(people.change, Person("ada", "admin", (), "bsmith")))
        refused(UserError, partial(people.add, Person("bsmith", "viewer")))
        assert people.everyone() == [ADA, BOB]

    def test_a_name_that_would_be_taken_for_another_is_refused(self) -> None:
        people = self.open()
        people.add(ADA)
        people.add(Person("will", "viewer"))
        for name in ("Ada", "ADA", "\u0430da", "ad\u00e1", "\uff41da", "ad\u200ba", "wi11", "w\u0456ll", "vvill"):
            refused(UserError, partial(people.add, Person(name, "viewer")))
        for name in ("adam", "adda", "bill", "\u0430\u043d\u043d\u0430", "ada2"):
            people.add(Person(name, "viewer"))

    def test_what_became_of_a_token_is_known_until_its_person_is_gone(self) -> None:
        people = self.open()
        people.add(ADA)
        people.add(BOB)
        made, token = people.issue("bob", "laptop", _THEN, _NOW)
        assert self.open().known_token(token) == made
        assert people.revoke(made.id, _NOW) == people.known_token(token)
        assert people.known_token("rcv_") is None
        people.remove("bob")
        assert people.known_token(token) is None

    def test_what_is_changed_holds_at_once(self) -> None:
        people, other = self.open(), self.open()
        people.add(ADA)
        people.add(BOB)
        people.change(Person("bob", "viewer", ("legal",)))
        assert other.find("bob") == Person("bob", "viewer", ("legal",))
        refused(UserError, partial(people.change, Person("eve", "viewer")))

    def test_an_admin_is_left_as_long_as_anybody_is(self) -> None:
        people = self.open()
        people.add(ADA)
        people.add(BOB)
        refused(UserError, partial(people.remove, "ada"))
        refused(UserError, partial(people.change, Person("ada", "decider")))
        people.remove("bob")
        people.remove("ada")
        assert people.everyone() == []

    def test_a_token_admits_its_person_until_it_runs_out(self) -> None:
        people = self.open()
        people.add(BOB)
        made, secret = people.issue("bob", "laptop", _THEN, _LATER)
        assert self.open().by_token(secret, _NOW) == BOB
        assert people.by_token(secret, _LATER) is None
        assert (made.person, made.label, made.expires) == ("bob", "laptop", _LATER)
        for other in ("", secret[:-1], secret.upper(), made.id):
            assert people.by_token(other, _NOW) is None
        refused(UserError, partial(people.issue, "eve", "", _THEN, _LATER))

    def test_a_revoked_token_admits_nobody_and_another_still_does(self) -> None:
        people = self.open()
        people.add(BOB)
        (gone, first), (_, second) = (people.issue("bob", label, _THEN, _LATER) for label in ("a", "b"))
        assert people.revoke(gone.id, _NOW).revoked == _NOW
        assert people.revoke(gone.id, _LATER).revoked == _NOW, "twice is once"
        assert self.open().by_token(first, _NOW) is None
        assert self.open().by_token(second, _NOW) == BOB
        refused(UserError, partial(people.revoke, "ffffffff", _NOW))

    def test_tokens_go_with_their_person_and_stay_nowhere(self) -> None:
        people = self.open()
        people.add(ADA)
        people.add(BOB)
        _, secret = people.issue("bob", "", _THEN, _LATER)
        assert secret not in str(people.tokens())
        people.remove("bob")
        people.add(BOB)
        assert people.by_token(secret, _NOW) is None
        assert people.tokens() == []
