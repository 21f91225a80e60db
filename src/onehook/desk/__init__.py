"""Asks that a person answers, on every agent: the hook holds the call, a person answers, the agent continues.

What an event loads, and only if it asks: `hold`, `requests`, `signature`, `peer`. What a person's side uses:

    from onehook.desk import answers, pin

    answers.listed()                  every request that can be answered, oldest first (Asked)
    answers.watched(stop)             the same list again whenever it changes
    answers.one(id)                   one request, with everything that is needed to judge it; NoSuchRequest
    pin.is_set(), pin.unlock("...")   the person's key (Key), made of the PIN; WrongPin, TooManyTries
    answers.give(asked, Answer("allow"), key, by="ana", via="page")

`give` raises a DeskError with a message for the person, and returns a sentence on what the answer does: the agent still waits, or it counts
for the next attempt. A request is answered once: the second answer is refused (AlreadyAnswered). A process that keeps a key calls
pin.keep_private().
"""
