package watch

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Text is what can be shown as a value.
type Text interface {
	bool | int | int64 | uint32 | uint64 | float32 | float64 | string | time.Duration
}

// Show adds a value that can only be read.
func Show[T Text](t *Tree, path, about string, get func() T) {
	t.Add(path, about, func() string { return format(get()) }, nil)
}

// Setting adds a value that can be read and set. set checks it, and its error says what would be
// taken; what is not of the type at all never comes to it.
func Setting[T Text](t *Tree, path, about string, get func() T, set func(T) error) {
	t.Add(path, about, func() string { return format(get()) }, func(text string) error {
		v, err := parse[T](text)
		if err != nil {
			return err
		}
		return set(v)
	})
}

func format[T Text](v T) string {
	switch v := any(v).(type) {
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// parse reads the text of a value. The errors tell how to write one.
func parse[T Text](text string) (v T, err error) {
	how := ""
	switch p := any(&v).(type) {
	case *string:
		*p = text
	case *bool:
		*p, err = strconv.ParseBool(text)
		how = "write true or false"
	case *time.Duration:
		*p, err = time.ParseDuration(text)
		how = "write a time with its unit, such as 250ms, 10s or 2m"
	case *int:
		*p, err = strconv.Atoi(text)
		how = "write a whole number"
	case *int64:
		*p, err = strconv.ParseInt(text, 10, 64)
		how = "write a whole number"
	case *uint32:
		var n uint64
		n, err = strconv.ParseUint(text, 10, 32)
		*p, how = uint32(n), "write a whole number from 0 to 4294967295"
	case *uint64:
		*p, err = strconv.ParseUint(text, 10, 64)
		how = "write a whole number, not below 0"
	case *float32:
		var f float64
		f, err = finite(strconv.ParseFloat(text, 32))
		*p, how = float32(f), "write a number, such as 0.75"
	case *float64:
		*p, err = finite(strconv.ParseFloat(text, 64))
		how = "write a number, such as 0.75"
	}
	if err != nil {
		return v, fmt.Errorf("%q: %s", clip(text, MaxPath), how)
	}
	return v, nil
}

// finite refuses what no setting can mean.
func finite(f float64, err error) (float64, error) {
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		err = errors.New("not a finite number")
	}
	return f, err
}
