"""Ed25519: the test vectors of RFC 8032, and invalid signatures."""

from __future__ import annotations

import pytest

from onehook.desk.signature import public_of, sign, verify

# Section 7.1: secret, public, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize("vector", VECTORS, ids=["1", "2", "3"])
def test_it_signs_and_verifies_as_the_rfc_says(vector):
    secret, public, message, signature = map(bytes.fromhex, vector)
    assert public_of(secret) == public and sign(secret, message) == signature
    assert verify(public, message, signature)
    for wrong in (b"", signature[:-1], signature + b"\0", bytes(64), signature[32:] + signature[:32], b"\xff" * 64):
        assert not verify(public, message, wrong)
    assert not verify(public, message + b".", signature)
    assert not verify(public_of(bytes(32)), message, signature)
    for no_key in (b"", public[:-1], b"\xff" * 32, bytes([2]) + bytes(31)):
        assert not verify(no_key, message, signature)


def test_a_signature_is_not_valid_with_the_order_added():
    """Otherwise each signature would have a second valid form."""
    public, message, signature = map(bytes.fromhex, VECTORS[1][1:])
    order = 2**252 + 27742317777372353535851937790883648493
    twin = signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    assert not verify(public, message, twin)
