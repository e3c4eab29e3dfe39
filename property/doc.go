// Package property describes what entities are made of, and holds and streams their values.
//
// A [Schema] is a list of entity types. Each [Definition] names the properties of a type, who holds
// and sees each of them ([Flags]), the methods of its three sides, and its detail levels. A Schema
// comes from a tree of .def files in the dialects of BigWorld and KBEngine ([Load]) or from Go
// ([NewSchema]). Either way all faults are found at once, and a Schema exists whole or not at all.
//
//	entities.xml ─┐                        ┌─ Values (cell)  ── CellStream ──▶ Values (next cell, backup)
//	alias.xml ────┤                        │        │
//	*.def ────────┼─▶ Schema ─▶ Definition ┤        ├── GhostStream ──────────▶ Values (ghost)
//	interfaces ───┤    │                   │        ├── OtherClientStream ────▶ Values (another's client)
//	components ───┘    │                   │        └── OwnClientCellStream ──▶ Values (own client)
//	            two digests                └─ Values (base)  ── OwnClientBaseStream ▶ Values (own client)
//
// # Values and changes
//
// A [Value] is an immutable tree; a [Values] holds one for each property of its side. A script
// changes them through handles, which are fields of its struct ([Field], [Slice], [Array], [Map],
// [Custom], [Any], structs with a [Dict]), and each change, however deep, is told to the entity as
// one [Change] with its path and the old value:
//
//	script                real                                 copies
//	hp.Set(5) ─────▶ Values ─▶ Holder.PropertyChanged(c) ┬─ AppendChange ───────▶ ApplyChange        at ghosts
//	                                                     ├─ AppendClientChange ─▶ ApplyClientChange  at the own client
//	                                                     └─ History.Record: a number, and for a part its client form
//	                                                             │
//	                       a watcher at n is owed what is ───────┘
//	                       stamped above n: the parts, or the whole
//
// A change of an Unreliable property is numbered and told to ghosts like any other, and other clients
// may miss it: of such a property the present value is all that they are ever owed, whole, and its last
// one they are owed reliably. Package aoi/witness says how.
//
// The copy that a change is applied to hands it to its [Setters]. Values never change, so an
// assignment is a deep copy: a container has one owner, old values stay, and a change made
// elsewhere to what was read from a property reports nothing.
//
// # Contract
//
//   - A Schema, its Definitions and their DataTypes never change once made. Any number of goroutines
//     may read them.
//   - [Values] holds exactly the properties of one [Side]. Every value in it fits its type and the
//     limits of what can travel, so real, ghosts and clients never differ. The entity hears of a
//     change through the one method of [Holder], after the value is in place, and hears nothing if
//     the value was there already. Ghosts and clients cannot be written to.
//   - A stream carries the properties of its [Stream] in ascending index order, without names or
//     counts: both ends must hold a Schema of equal digest. Reading takes all of a stream or nothing.
//     The streams of the store ([Values.AppendStore]) have names instead, since they outlive a
//     Schema.
//   - A change applied to values equal to what its writer's were before leaves values equal to what
//     they are after.
//   - Every decoder takes any bytes: it returns an error, never panics, and allocates in proportion
//     to the bytes given. There are two exceptions. A [Compressor] allocates up to its caller's
//     limit. A change of a part copies the lists on its path, whatever their length.
//   - A stream that creates an entity is packed if the type's [Compression] says so. Only then does
//     it have the byte that says whether it is compressed: what a type does not use costs it nothing.
//   - [History] numbers the property changes and broadcast method calls of one entity in one sequence
//     without gaps. A watcher that has seen everything up to n is owed exactly the properties stamped
//     above n and the events numbered above n.
//
// # Concurrency
//
// Values, History, Stats, a Compressor and the bound handles belong to one goroutine, that of the
// entity's app. Nothing in the package starts a goroutine, takes a lock or reads a clock.
//
// # The caller's duties
//
// Compare [Schema.Digest] between the processes of a cluster and [Schema.ClientDigest] with a
// client before exchanging streams. Call [CheckFields] once for a script's type before [BindFields]
// for each of its values. Number a change with [History.Record] when the holder hears of it. Send
// each change to each copy once, in order: a splice is not idempotent.
//
// Sources: seed S1 (property synchronisation), seed S4 §6.1.5 and §6.1.6 (history, detail levels,
// definitions). MAP is an addition of this library. Free values are MessagePack
// (https://github.com/msgpack/msgpack/blob/master/spec.md), where BigWorld uses pickles.
package property
