"""Says a value in every way that programs write one in; written apart from what looks for them."""
import base64, json, os, re, sys, time, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
PAUSE = 0.02


def value():
    granted = os.environb.get(b"API")
    if granted:
        return granted
    # Backwards, so that no file here has it.
    return open(HERE + "/backwards", "rb").read()[::-1]


def ways(value):
    """What is said, and what of that must not be seen."""
    text = value.decode()
    wide = json.dumps(text, ensure_ascii=False)[1:-1]
    narrow = json.dumps(text)[1:-1]
    number = lambda letter, case: "\\u" + format(ord(letter), case)
    numbered = lambda text, letters, case: "".join(number(one, case) if one in letters else one for one in text)
    lower = lambda address: re.sub("%..", lambda found: found[0].lower(), address)
    addresses = [
        urllib.parse.quote(text),
        urllib.parse.quote(text, safe=""),
        urllib.parse.quote_plus(text),
        "".join("%%%02X" % byte for byte in value),
    ]
    written = [
        text,
        wide,
        narrow,
        wide.replace("/", "\\/"),
        narrow.replace("/", "\\/"),
        numbered(wide, "<>&", "04x"),
        numbered(wide, "<>&='", "04x"),
        numbered(wide.replace('\\"', "\\u0022"), "<>&+'`é", "04X"),
        json.dumps(wide, ensure_ascii=False)[1:-1],
        json.dumps(narrow)[1:-1],
        value.hex(),
        value.hex().upper(),
        *addresses,
        *map(lower, addresses),
    ]
    seen = [(one.encode(), one.encode()) for one in dict.fromkeys(written)]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            digits = encode(b"u:"[:before] + value)
            first, last = -(-8 * before // 6), 8 * (before + len(value)) // 6
            seen.append((digits, digits[first:last]))
    return seen


def coloured(said):
    half = len(said) // 2
    return said[:half] + b"\x1b[1;31m" + said[half:]


def say(step):
    count = [0, 0]

    def write(stream, said):
        stream.buffer.write(said)
        stream.flush()

    for said, _ in ways(value()):
        write(sys.stdout, b"a " + said + b" b\n")
        write(sys.stdout, b"c " + coloured(said) + b" d\n")
        write(sys.stderr, b"e " + coloured(said) + b" f\n")
        # As programs break lines.
        half = len(said) // 2
        write(sys.stderr, b"i " + said[:half] + b"\n" + said[half:] + b" j\n")
        count[0] += 2
        count[1] += 2
        places = {1, len(said) // 2, len(said) - 1, *range(1, len(said), step)}
        for place in sorted(places):
            write(sys.stdout, b"g " + said[:place])
            time.sleep(PAUSE)
            write(sys.stdout, said[place:] + b" h\n")
            count[0] += 1
    print("planted", *count)
    print("has", *value()[::-1])


def complain(number):
    plain = ways(value())
    said = plain[number % len(plain)][0]
    sys.stderr.buffer.write(b"no " + (said if number < len(plain) else coloured(said)) + b" there\n")
    sys.exit(7)


if sys.argv[1] == "list":
    for said, secret in ways(value()):
        print(said.hex(), secret.hex())
elif sys.argv[1] == "say":
    say(int(sys.argv[2]))
else:
    complain(int(sys.argv[2]))
