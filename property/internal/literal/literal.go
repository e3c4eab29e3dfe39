// Package literal reads the literals of the script language in which the trees of both dialects
// write the defaults of free values, lists and records: None, True, False, numbers, strings, bytes,
// lists, tuples and dictionaries of them, and dict(), list() and tuple(). The originals evaluate
// expressions; here one that computes something is refused.
//
// [Parse] takes any text. It never panics, and allocates in proportion to the text.
package literal

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxDepth is how deep a literal may nest: a free value within an ARRAY, each as deep as it may
	// be.
	maxDepth = 32
	// maxList is the largest number of elements of a list: that of an ARRAY.
	maxList = 1 << 16
)

var (
	errLiteral = errors.New("not a literal")
	errDeep    = errors.New("nested too deep")
)

// Parse reads a literal as a tree of nil, bool, int64 (uint64 above its range), float64, string,
// []byte, []any, map[string]any and map[int64]any. It stops at nothing but the end of the text.
func Parse(text string) (any, error) {
	p := &parser{rest: text}
	x, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); strings.HasPrefix(p.rest, ",") { // a tuple needs no parentheses
		x, err = p.sequence([]any{x}, 0, 0)
	}
	if err != nil {
		return nil, err
	}
	if p.space(); p.rest != "" {
		return nil, fmt.Errorf("%w: %.60q is left over", errLiteral, p.rest)
	}
	return x, nil
}

type parser struct{ rest string }

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take removes a prefix, if it is there.
func (p *parser) take(prefix string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	p.space()
	if p.rest == "" {
		return nil, fmt.Errorf("%w: something is missing at the end", errLiteral)
	}
	switch c := p.rest[0]; {
	case c == '[':
		p.rest = p.rest[1:]
		return p.sequence([]any{}, ']', depth+1)
	case c == '(':
		p.rest = p.rest[1:]
		return p.parentheses(depth + 1)
	case c == '{':
		p.rest = p.rest[1:]
		return p.dictionary(depth + 1)
	case c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9':
		return p.number()
	}
	if x, ok, err := p.text(); ok || err != nil {
		return x, err
	}
	return p.name()
}

// name reads what is written as a word.
func (p *parser) name() (any, error) {
	n := strings.IndexFunc(p.rest, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') })
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	switch word {
	case "None", "null":
		return nil, nil
	case "True", "true":
		return true, nil
	case "False", "false":
		return false, nil
	case "dict", "list", "tuple":
		if p.take("(") && p.take(")") {
			if word == "dict" {
				return map[string]any{}, nil
			}
			return []any{}, nil
		}
	}
	return nil, fmt.Errorf("%w: %.60q", errLiteral, word+p.rest)
}

// sequence reads the elements of a list up to its end: a bracket, or 0 for the end of the text.
func (p *parser) sequence(list []any, end byte, depth int) (any, error) {
	for {
		if len(list) > 0 && !p.take(",") || p.ends(end) {
			break
		}
		if len(list) > maxList {
			return nil, fmt.Errorf("%w: more than %d elements", errLiteral, maxList)
		}
		x, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, p.end(end)
}

func (p *parser) ends(end byte) bool {
	p.space()
	return p.rest == "" || end != 0 && p.rest[0] == end
}

func (p *parser) end(end byte) error {
	if end != 0 && !p.take(string(end)) {
		return fmt.Errorf("%w: there is no %q", errLiteral, end)
	}
	return nil
}

// parentheses reads a tuple, or a value in parentheses: a comma makes the difference.
func (p *parser) parentheses(depth int) (any, error) {
	if p.take(")") {
		return []any{}, nil
	}
	x, err := p.value(depth)
	if err != nil || p.take(")") {
		return x, err
	}
	return p.sequence([]any{x}, ')', depth)
}

// dictionary reads pairs. Its keys are all strings or all whole numbers, as those of an ANY are.
func (p *parser) dictionary(depth int) (any, error) {
	texts, numbers := make(map[string]any), make(map[int64]any)
	for n := 0; !p.take("}"); n++ {
		if n > 0 && !p.take(",") {
			return nil, fmt.Errorf("%w: a dictionary goes on with %.60q", errLiteral, p.rest)
		}
		if n > 0 && p.take("}") {
			break
		}
		if err := p.pair(texts, numbers, depth); err != nil {
			return nil, err
		}
	}
	switch {
	case len(numbers) == 0:
		return texts, nil
	case len(texts) == 0:
		return numbers, nil
	}
	return nil, fmt.Errorf("%w: the keys of a dictionary must all be strings, or all whole numbers", errLiteral)
}

func (p *parser) pair(texts map[string]any, numbers map[int64]any, depth int) error {
	key, err := p.value(depth)
	if err != nil {
		return err
	}
	if !p.take(":") {
		return fmt.Errorf("%w: there is no colon after the key %v", errLiteral, key)
	}
	x, err := p.value(depth)
	if err != nil {
		return err
	}
	var twice bool
	switch k := key.(type) {
	case string:
		_, twice = texts[k]
		texts[k] = x
	case int64:
		_, twice = numbers[k]
		numbers[k] = x
	default:
		return fmt.Errorf("%w: %v cannot be a key", errLiteral, key)
	}
	if twice {
		return fmt.Errorf("%w: key %v comes twice", errLiteral, key)
	}
	return nil
}

// number reads a whole number or a float, with a sign.
func (p *parser) number() (any, error) {
	n := 1 // a sign belongs to it, and so does one after an exponent
	for n < len(p.rest) && (isWordByte(p.rest[n]) || p.rest[n] == '.' || strings.IndexByte("+-", p.rest[n]) >= 0 && (p.rest[n-1]|0x20) == 'e' && !IsHex(p.rest[:n])) {
		n++
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	if !IsHex(word) && strings.ContainsAny(word, ".eE") {
		f, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %.60q", errLiteral, word)
		}
		return f, nil
	}
	digits, sign := strings.TrimRight(word, "lL"), ""
	if digits[:min(1, len(digits))] == "-" {
		digits, sign = digits[1:], "-"
	} else {
		digits = strings.TrimPrefix(digits, "+")
	}
	base := 10
	if len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("xXoObB", rune(digits[1])) {
		base = 0
	}
	if i, err := strconv.ParseInt(sign+digits, base, 64); err == nil {
		return i, nil
	}
	u, err := strconv.ParseUint(digits, base, 64)
	if err != nil || sign != "" {
		return nil, fmt.Errorf("%w: %.60q", errLiteral, word)
	}
	return u, nil
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// IsHex reports whether a number is written in base 16.
func IsHex(word string) bool {
	word = strings.TrimLeft(word, "+-")
	return strings.HasPrefix(word, "0x") || strings.HasPrefix(word, "0X")
}

// text reads strings or bytes, several in a row as one; ok is false if there are none.
func (p *parser) text() (x any, ok bool, err error) {
	var b []byte
	var binary bool
	for {
		p.space()
		n := 0
		for n < len(p.rest) && n < 2 && strings.IndexByte("uUbBrR", p.rest[n]) >= 0 {
			n++
		}
		if n >= len(p.rest) || p.rest[n] != '\'' && p.rest[n] != '"' {
			break
		}
		prefix := strings.ToLower(p.rest[:n])
		p.rest = p.rest[n:]
		raw, isBinary := strings.Contains(prefix, "r"), strings.Contains(prefix, "b")
		if ok && isBinary != binary {
			return nil, false, fmt.Errorf("%w: a string beside bytes", errLiteral)
		}
		binary, ok = isBinary, true
		if b, err = p.quoted(b, raw, isBinary); err != nil {
			return nil, false, err
		}
	}
	switch {
	case !ok:
		return nil, false, nil
	case binary:
		return b, true, nil
	case !utf8.Valid(b):
		return nil, false, fmt.Errorf("%w: a string that is not UTF-8", errLiteral)
	}
	return string(b), true, nil
}

// quoted appends what stands in quotation marks, in one or in three.
func (p *parser) quoted(b []byte, raw, binary bool) ([]byte, error) {
	mark := p.rest[:1]
	if strings.HasPrefix(p.rest, mark+mark+mark) {
		mark = p.rest[:3]
	}
	p.rest = p.rest[len(mark):]
	for p.rest != "" {
		c := p.rest[0]
		switch {
		case strings.HasPrefix(p.rest, mark):
			p.rest = p.rest[len(mark):]
			return b, nil
		case c == '\n' && len(mark) == 1:
			return b, fmt.Errorf("%w: a line ends within quotation marks", errLiteral)
		case c == '\\' && raw && len(p.rest) > 1:
			b, p.rest = append(b, p.rest[:2]...), p.rest[2:]
		case c == '\\' && !raw:
			var err error
			if b, err = p.escape(b, binary); err != nil {
				return b, err
			}
		default:
			b, p.rest = append(b, c), p.rest[1:]
		}
	}
	return b, fmt.Errorf("%w: there is no %s at the end", errLiteral, mark)
}

// escape appends what a backslash stands for. One that stands for nothing stays.
func (p *parser) escape(b []byte, binary bool) ([]byte, error) {
	if len(p.rest) < 2 {
		return b, fmt.Errorf("%w: a backslash at the end", errLiteral)
	}
	c := p.rest[1]
	if i := strings.IndexByte("\\'\"abfnrtv\n", c); i >= 0 {
		p.rest = p.rest[2:]
		if c != '\n' { // a line that goes on
			b = append(b, "\\'\"\a\b\f\n\r\t\v"[i])
		}
		return b, nil
	}
	var digits, base, from int
	switch {
	case c == 'x':
		digits, base, from = 2, 16, 2
	case c == 'u' && !binary:
		digits, base, from = 4, 16, 2
	case c == 'U' && !binary:
		digits, base, from = 8, 16, 2
	case c >= '0' && c <= '7':
		digits, base, from = 1, 8, 1
		for digits < 3 && from+digits < len(p.rest) && p.rest[from+digits] >= '0' && p.rest[from+digits] <= '7' {
			digits++
		}
	default:
		b, p.rest = append(b, '\\'), p.rest[1:]
		return b, nil
	}
	if len(p.rest) < from+digits {
		return b, fmt.Errorf("%w: %.60q", errLiteral, p.rest)
	}
	n, err := strconv.ParseUint(p.rest[from:from+digits], base, 32)
	if err != nil || n > utf8.MaxRune || binary && n > math.MaxUint8 {
		return b, fmt.Errorf("%w: %.60q", errLiteral, p.rest)
	}
	p.rest = p.rest[from+digits:]
	if binary {
		return append(b, byte(n)), nil
	}
	return utf8.AppendRune(b, rune(n)), nil
}
