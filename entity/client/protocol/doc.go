// Package protocol defines every message between a client and the servers it meets: the LoginApp
// first, then the BaseApp that holds its proxy.
//
// # Shapes
//
// A reliable mercury message is a bundle of protocol messages, each framed so that a receiver can
// skip what it does not know:
//
//	+----+----------------+----------------+----+-----
//	| id | length uvarint | body           | id | ...
//	+----+----------------+----------------+----+-----
//
// An unreliable mercury message from the server is a Positions packet: where the entities around
// the player were, as far as the byte budget went.
//
//	+--------------+-----------------+----------------------------------------------+-----
//	| after uvarint| origin 3 varint | head | entity id | stamp | position | direction | ...
//	+--------------+-----------------+----------------------------------------------+-----
//
// An entry takes some 13 bytes. The origin is in metres, near the player. A position is three int16
// of 1/64 m from there; a direction is an int16 of 1/32767 of π for each of its angles that is not
// zero, and head says which. The lowest two bits of head say which of the allocators named in the
// packet made the id, or that a new one follows; so most entries carry only the counter of the id.
// A position further away than 512 m, and a direction that is not made of angles, goes whole. The
// place where an entity comes to rest is told reliably and exactly. A tick may fill several
// packets; none of them needs another.
//
// After counts the reliable bundles that the witness had sent before it. A client uses an entry
// only for a replica that was created by bundle After or an earlier one, and only if its stamp is
// newer than what the replica has: so a late packet never moves an entity back.
//
// # Numbers
//
// Types, properties and methods go by the numbers that a client can know:
// [property.Definition].ClientID, [property.Property].ClientIndex, [property.Method].ExposedIndex
// upwards, and Index among the client methods downwards. They count only what clients see or call,
// and so does the digest that the two sides compare. An edit of the definitions that concerns only
// servers changes neither, and locks no client out.
//
// # Properties
//
// A property travels with its ClientIndex, as a whole value or as a change of a part of it: the
// third element, a slice of a list. The lowest bit says which; see
// [property.Values.AppendClientChange]. Enter and Audit carry only whole values. A part is sent
// only to a client that has the value as it was before the change, so parts must be applied once
// each and in the order in which they come.
//
// The properties of BasePlayer, CellPlayer and Enter are packed if the type that the client knows
// has a Compression.External; see [property.Compressor]. Those of other types go unpacked, without
// even the byte that says so. The digest tells such types from others, so the two sides cannot
// disagree.
//
// # Order
//
// LoginApp: Login up; LoginOK or Refused down. BaseApp: Attach up; then Attached and BasePlayer
// down, once; CellPlayer whenever the cell part exists (again), preceded by Reset, which drops
// everything seen before; then Enter, Changes, Call, Rest, Leave for the entities in the area of
// interest. Nothing about an entity comes before its Enter or after its Leave.
//
// # Bounds
//
// Every parser here is fed bytes from outside. Lengths are checked against the named limits before
// anything is allocated; a malformed message is an error, and only its connection suffers.
package protocol
