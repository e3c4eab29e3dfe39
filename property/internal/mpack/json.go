package mpack

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The JSON form of free values, for defaults in definition files and for logs. It is JSON as it is,
// with three objects that stand for what JSON lacks; each has one key, which begins with a dollar:
//
//	{"$bin": "aGk="}                     bytes, in base64
//	{"$float": "NaN"}                    NaN, Infinity, -Infinity
//	{"$map": [[1, "a"], [2, "b"]]}       a map with whole numbers as keys; or one that these three would be mistaken for
//
// A number with a point or an exponent is a float, another is a whole number.
const (
	jsonBin   = "$bin"
	jsonFloat = "$float"
	jsonMap   = "$map"
)

const (
	// MaxJSON is the longest text of a free value: \u0000 writes one byte in six, and there may be
	// blanks.
	MaxJSON = 8 * MaxFree
	// maxJSONDepth is how deep that text may nest: a map with numbers as keys takes three levels of
	// JSON.
	maxJSONDepth = 3 * (MaxFreeDepth + 1)
)

// ToJSON writes a free value as JSON, without line ends. [FromJSON] reads it back.
func ToJSON(msgpack string) (string, error) {
	if msgpack == "" {
		return "", fmt.Errorf("%w: an ANY without bytes", ErrValue)
	}
	x, err := Decode([]byte(msgpack))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(jsonTree(x)); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// jsonTree turns a free value into one that encoding/json writes in the form above. It sorts keys,
// as an ANY does.
func jsonTree(x any) any {
	switch x := x.(type) {
	case float64:
		return jsonNumber(x)
	case []byte:
		return map[string]any{jsonBin: base64.StdEncoding.EncodeToString(x)}
	case []any:
		list := make([]any, len(x))
		for i, e := range x {
			list[i] = jsonTree(e)
		}
		return list
	case map[string]any:
		if isForm(x) {
			return map[string]any{jsonMap: jsonPairs(x)}
		}
		m := make(map[string]any, len(x))
		// order does not show: a map is made of a map
		for k, e := range x {
			m[k] = jsonTree(e)
		}
		return m
	case map[int64]any:
		return map[string]any{jsonMap: jsonPairs(x)}
	}
	return x
}

// isForm reports whether a map would be read as one of the three objects.
func isForm(m map[string]any) bool {
	if len(m) != 1 {
		return false
	}
	return strings.HasPrefix(slices.Sorted(maps.Keys(m))[0], "$")
}

func jsonPairs[K string | int64](m map[K]any) []any {
	pairs := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, []any{k, jsonTree(m[k])})
	}
	return pairs
}

func jsonNumber(f float64) any {
	switch {
	case f != f:
		return map[string]any{jsonFloat: "NaN"}
	case math.IsInf(f, 1):
		return map[string]any{jsonFloat: "Infinity"}
	case math.IsInf(f, -1):
		return map[string]any{jsonFloat: "-Infinity"}
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return json.Number(text)
}

// FromJSON reads a free value from JSON. A key that comes twice is refused, and so is a whole
// number of more than 64 bits: encoding/json would take the last, and round the number. Errors are
// ErrValue and ErrLength.
func FromJSON(text string) (msgpack string, err error) {
	if len(text) > MaxJSON {
		return "", fmt.Errorf("%w: JSON of %d bytes is longer than %d", ErrLength, len(text), MaxJSON)
	}
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("%w: JSON is not UTF-8", ErrValue)
	}
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		return "", fmt.Errorf("%w: %v", ErrValue, err)
	}
	d := json.NewDecoder(bytes.NewReader(whole))
	d.UseNumber()
	x, err := jsonParser{d}.value(0)
	if err != nil {
		return "", err
	}
	return Encode(x)
}

// jsonParser reads JSON whose syntax is right.
type jsonParser struct{ *json.Decoder }

func (p jsonParser) value(depth int) (any, error) {
	token, err := p.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrValue, err)
	}
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("%w: JSON is nested deeper than %d", ErrLength, maxJSONDepth)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return p.array(depth + 1)
		}
		return p.object(depth + 1)
	case json.Number:
		return parseJSONNumber(string(token))
	default:
		return token, nil // nil, bool, string
	}
}

func (p jsonParser) array(depth int) (any, error) {
	list := []any{}
	for p.More() {
		x, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	if _, err := p.Token(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrValue, err)
	}
	return list, nil
}

func (p jsonParser) object(depth int) (any, error) {
	m := make(map[string]any)
	for p.More() {
		token, err := p.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrValue, err)
		}
		key, _ := token.(string)
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("%w: key %.60q comes twice", ErrValue, key)
		}
		if m[key], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	if _, err := p.Token(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrValue, err)
	}
	if isForm(m) {
		return parseForm(m)
	}
	return m, nil
}

func parseJSONNumber(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %.60s is beyond a FLOAT64", ErrValue, text)
		}
		return f, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: %.60s has more than 64 bits; for a float, write a point", ErrValue, text)
	}
	return n, nil
}

// parseForm reads an object with one key that begins with a dollar.
func parseForm(m map[string]any) (any, error) {
	if text, ok := m[jsonBin].(string); ok {
		p, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %v", ErrValue, jsonBin, err)
		}
		return p, nil
	}
	if text, ok := m[jsonFloat].(string); ok {
		switch text {
		case "NaN":
			return math.NaN(), nil
		case "Infinity":
			return math.Inf(1), nil
		case "-Infinity":
			return math.Inf(-1), nil
		}
	}
	if pairs, ok := m[jsonMap].([]any); ok {
		return parsePairs(pairs)
	}
	return nil, fmt.Errorf(`%w: an object of one key that begins with $ is {"%s": base64}, {"%s": "NaN", "Infinity" or "-Infinity"}, or {"%s": [[key, value], ...]}`,
		ErrValue, jsonBin, jsonFloat, jsonMap)
}

func parsePairs(pairs []any) (any, error) {
	if len(pairs) > 0 {
		if pair, ok := pairs[0].([]any); ok && len(pair) == 2 {
			if _, ok := pair[0].(int64); ok {
				return pairsToMap[int64](pairs)
			}
		}
	}
	return pairsToMap[string](pairs)
}

func pairsToMap[K string | int64](pairs []any) (any, error) {
	m := make(map[K]any, len(pairs))
	for _, p := range pairs {
		pair, _ := p.([]any)
		if len(pair) != 2 {
			return nil, fmt.Errorf("%w: an element of %s is not [key, value]", ErrValue, jsonMap)
		}
		k, ok := pair[0].(K)
		if !ok {
			return nil, fmt.Errorf("%w: the keys of %s must all be strings, or all whole numbers of 64 bits with sign", ErrValue, jsonMap)
		}
		if _, twice := m[k]; twice {
			return nil, fmt.Errorf("%w: key %v comes twice", ErrValue, k)
		}
		m[k] = pair[1]
	}
	return m, nil
}
