package property

import "reflect"

// Custom is a property of a USER_TYPE of Go type T as a field of a script's struct.
type Custom[T any] struct{ part }

// Get returns the value. It is shared: what it refers to must not be changed.
func (c *Custom[T]) Get() T {
	x, _ := UserOf[T](*c.bound()) // CheckFields has compared the types
	return x
}

// Set changes the value. Errors are those of [UserValue] and [Values.SetAt].
func (c *Custom[T]) Set(x T) error {
	c.bound()
	val, err := UserValue(c.t, x)
	if err != nil {
		return c.values.inProperty(c.index, err)
	}
	return c.set(val)
}

func (c *Custom[T]) accepts(t *DataType) bool {
	return t.kind == KindUser && t.user.goType() == reflect.TypeFor[T]()
}

// Any is a property of type ANY as a field of a script's struct. It is read and written whole.
type Any struct{ part }

// Get decodes the value: nil, bool, int64, uint64, float64, string, []byte, []any or
// map[string]any.
func (a *Any) Get() any { return a.bound().Any() }

// Set changes the value. Errors are those of [AnyValue] and [Values.SetAt].
func (a *Any) Set(x any) error {
	a.bound()
	val, err := AnyValue(x)
	if err != nil {
		return a.values.inProperty(a.index, err)
	}
	return a.set(val)
}

func (a *Any) accepts(t *DataType) bool { return t.kind == KindAny }

// Blob is a property of type BLOB as a field of a script's struct.
type Blob struct{ part }

// Get returns a copy of the bytes.
func (f *Blob) Get() []byte { return f.bound().Bytes() }

// Set changes the bytes; ones that TrySet refuses panic.
func (f *Blob) Set(p []byte) {
	if err := f.TrySet(p); err != nil {
		panic(err)
	}
}

// TrySet changes the bytes. Errors are those of [Values.SetAt].
func (f *Blob) TrySet(p []byte) error { f.bound(); return f.set(Bytes(p)) }

func (f *Blob) accepts(t *DataType) bool { return t.kind == KindBlob }

// MailboxField is a property of type MAILBOX as a field of a script's struct.
type MailboxField struct{ part }

// Get returns the mailbox.
func (f *MailboxField) Get() Mailbox { return f.bound().Mailbox() }

// Set changes the mailbox. Errors are those of [Values.SetAt].
func (f *MailboxField) Set(m Mailbox) error { f.bound(); return f.set(MailboxValue(m)) }

func (f *MailboxField) accepts(t *DataType) bool { return t.kind == KindMailbox }
