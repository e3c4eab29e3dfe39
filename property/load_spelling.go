package property

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cellscape/cellscape/property/internal/literal"
)

// How the originals spell numbers and vectors. Both read a number as far as it goes and do not look
// at what follows: 5L, 1.0f and "30 metres" are read. A suffix that says of what type a number is
// gets no notice here. A notice tells of any other rest, and of a number that the originals take
// for another one. A text that does not begin with a number is a fault, though both would go on
// with zero.

func (l *loader) restNotice(e *element, path, read string) {
	l.notice(e.position, path, fmt.Sprintf("%q is read as %s, as the original does", shorten(e.text), shorten(read)), "state the number alone")
}

// parseWhole reads a whole number with read, or as the originals spell it: a sign, digits, and a
// suffix or a fraction of zero. A fraction is cut off, and whatever else follows the digits. A
// hexadecimal number, of which the originals read the zero before the x, is what it says.
func (l *loader) parseWhole(e *element, path string, parse func(string) (Value, bool)) (v Value, ok bool) {
	l.noChildren(e, path)
	if v, ok = parse(e.text); ok || l.textOnly {
		return v, ok
	}
	sign, digits := splitSign(e.text)
	if literal.IsHex(digits) {
		u, err := strconv.ParseUint(strings.TrimRight(digits[2:], "uUlL"), 16, 64)
		if err != nil {
			return Value{}, false
		}
		l.notice(e.position, path, fmt.Sprintf("%q is read as %s%d; the original reads 0", shorten(e.text), sign, u), "state it in decimal")
		digits = strconv.FormatUint(u, 10)
	}
	n := leadingDigits(digits)
	read, rest := sign+digits[:n], digits[n:]
	if n == 0 {
		return Value{}, false
	}
	if v, ok = parse(read); !ok {
		return Value{}, false
	}
	fraction, isFraction := strings.CutPrefix(rest, ".")
	if strings.Trim(rest, "uUlL") != "" && !(isFraction && strings.Trim(fraction, "0") == "") {
		l.restNotice(e, path, read)
	}
	return v, true
}

// splitSign takes a sign off a number; a plus is none.
func splitSign(text string) (sign, digits string) {
	if digits, ok := strings.CutPrefix(text, "-"); ok {
		return "-", digits
	}
	return "", strings.TrimPrefix(text, "+")
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// spelledFloat reads the number that a text begins with. rest is what follows it, if that is not a
// suffix.
func spelledFloat(text string) (f float64, rest string, ok bool) {
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, "", true
	}
	sign, digits := splitSign(text)
	n := leadingDigits(digits)
	whole := n
	if n < len(digits) && digits[n] == '.' {
		n += 1 + leadingDigits(digits[n+1:])
	}
	if whole == 0 && n < 2 {
		return 0, "", false
	}
	if n < len(digits) && digits[n]|0x20 == 'e' {
		_, exponent := splitSign(digits[n+1:])
		if d := leadingDigits(exponent); d > 0 {
			n = len(digits) - len(exponent) + d
		}
	}
	f, err := strconv.ParseFloat(sign+digits[:n], 64)
	if rest = digits[n:]; len(rest) == 1 && strings.Contains("fFlLdD", rest) {
		rest = ""
	}
	return f, rest, err == nil
}
