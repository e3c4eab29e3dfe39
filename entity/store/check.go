package store

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxReserve is how many numbers one Reserve may take.
const MaxReserve = 1 << 32

// CheckReserve tells whether numbers of a counter can be asked for; the error is ErrValue.
func CheckReserve(c Counter, n uint64) error {
	if n == 0 || n > MaxReserve {
		return fmt.Errorf("%w: %d numbers are not within 1 to %d", ErrValue, n, uint64(MaxReserve))
	}
	return checkName("counter", string(c))
}

// CheckBlob tells whether a blob can be put; the error is ErrValue.
func CheckBlob(key string, data []byte) error {
	if len(data) > MaxBlob {
		return fmt.Errorf("%w: blob %q of %d bytes, more than %d", ErrValue, key, len(data), MaxBlob)
	}
	return checkName("blob", key)
}

// CheckList tells whether a page of blobs can be asked for; the error is ErrValue.
func CheckList(prefix, after string, limit int) error {
	if limit < 1 || limit > MaxPage {
		return fmt.Errorf("%w: a page of %d is not within 1 to %d", ErrValue, limit, MaxPage)
	}
	for _, s := range []string{prefix, after} {
		if s == "" {
			continue
		}
		if err := checkName("blob", s); err != nil {
			return err
		}
	}
	return nil
}

// checkName refuses what a database could not keep as text.
func checkName(what, name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) || strings.Contains(name, "\x00") {
		return fmt.Errorf("%w: %q is no name of a %s: it takes 1 to %d bytes of UTF-8 without NUL", ErrValue, name, what, MaxName)
	}
	return nil
}
