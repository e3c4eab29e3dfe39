package property

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// How the originals spell numbers and vectors. Both read a number as far as it goes and do not look at what follows: 5L, 1.0f
// and "30 metres" are read. A suffix that says of what type a number is, is read here without a word; a rest that says
// something else, and a number that the originals take for another one, are told by a notice. A text that does not begin with
// a number is a fault, though both would go on with zero.

// spelledScalar reads a scalar as the originals spell it; ok is false where nothing is read so.
func (l *loader) spelledScalar(k Kind, e *element, path string) (v Value, ok bool) {
	switch {
	case isSigned(k) || isUnsigned(k):
		return l.spelledWhole(k, e, path)
	case k == KindFloat32 || k == KindFloat64:
		f, rest, ok := spelledFloat(e.text)
		if ok && rest != "" {
			l.restNotice(e, path, e.text[:len(e.text)-len(rest)])
		}
		return Float(f), ok
	case k == KindVec2 || k == KindVec3 || k == KindVec4:
		return l.spelledVector(k, e, path)
	case k == KindAny:
		x, err := parseLiteral(e.text)
		if err == nil {
			v, err = AnyValue(x)
		}
		return v, err == nil
	}
	return Value{}, false
}

func (l *loader) restNotice(e *element, path, read string) {
	l.notice(e.position, path, fmt.Sprintf("%q is read as %s, as the original does", shorten(e.text), shorten(read)), "state the number alone")
}

// spelledWhole reads a whole number: a sign, digits, and a suffix or a fraction of zero. A fraction is cut off, and whatever
// else follows the digits. A hexadecimal number, of which the originals read the zero before the x, is what it says.
func (l *loader) spelledWhole(k Kind, e *element, path string) (v Value, ok bool) {
	sign, digits := splitSign(e.text)
	if isHex(digits) {
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
	if v, ok = parseScalar(k, read); !ok {
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

// spelledFloat reads the number that a text begins with. rest is what follows it and is no suffix.
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

// spelledVector reads the parts of a vector, with blanks or commas between and brackets around: 0 0 0, or (0, 0, 0). Each
// part is a number alone, with a suffix at most.
func (l *loader) spelledVector(k Kind, e *element, path string) (Value, bool) {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune("()[]", r) {
			return -1
		}
		return r
	}, e.text)
	words := vectorWords(text)
	var f [4]float32
	if len(words) != vectorSize(k) {
		return Value{}, false
	}
	for i, w := range words {
		x, rest, ok := spelledFloat(w)
		if !ok || rest != "" || !fitsFloat32(x) {
			return Value{}, false
		}
		f[i] = float32(x)
	}
	return vectorValue(k, f), true
}

// fitsFloat32 reports whether a number stays finite as a FLOAT32, unless it is not finite itself.
func fitsFloat32(x float64) bool {
	return math.IsInf(x, 0) || !math.IsInf(float64(float32(x)), 0)
}
