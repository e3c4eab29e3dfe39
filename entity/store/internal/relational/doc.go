// Package relational is a store over tables: what the stores on databases with SQL have in common.
// An adapter brings a [Database], which is its driver's transactions and errors, and a [Dialect].
//
// # Tables
//
//	cellscape_counter    name, value                numbers that are never given twice; the start; the format
//	cellscape_blob       key, version, data
//	cellscape_type       name, description          what the tables were last made for
//	entity_<type>        id, version, holder_start, holder_app, holder_entity, autoload, data, p_<column>...
//
// # One way for every call on rows
//
// In one transaction it reads the newest start, with a lock that keeps Begin and Apply out, and the
// states of all rows, which it locks in the order of types and ids. Then store.State says what
// becomes of each row, and only then are rows written. So there is one place that knows the rules,
// and two calls on the same rows wait for each other instead of blocking each other for ever.
package relational
