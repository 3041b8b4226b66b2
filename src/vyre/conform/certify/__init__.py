"""Certificates: what a run earned, in bytes that anybody can check without running anything.

certificate.py   what a certificate holds
level.py         which levels its contents support
statement.py     the file: an in-toto Statement, in a DSSE envelope when it is signed
verify.py        checking a file; rerun.py, running a part of it again
merge.py         shards into the certificate of the whole run
"""
