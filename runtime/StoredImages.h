/// Finds the image of a library that serves a request, so that a plan runs the schedule that was
/// optimised and proved when the library was made, in place of one that is instantiated as written.
///
/// An image serves a request of its collective with the same number of ranks, type and form in
/// place, n in its validity range, ranks that sit where the image needs them, and the same
/// arguments. Parameters outside the contract may have any value in it, unless the caller gives
/// one; if a rule gives one, the image must be tuned (LibraryImage::isTuned).
#pragma once

#include "instantiate/Instantiate.h"
#include "program/library/Library.h"

namespace colldsl {

using LibraryArguments = std::optional<std::vector<LibraryArgument>>;

/// The number that the request gives its collective's p-th parameter; empty: none, or another
/// value.
std::optional<int64_t> numberOf(const Program &program, const InstantiateRequest &request,
                                size_t p);

/// LibraryImage::arguments of a schedule that was made from the request: those of parameters in the
/// contract. Empty: one of these is not a number.
LibraryArguments argumentsOfImage(const Program &program, const InstantiateRequest &request);

/// True if the request's `arguments` give parameters that are not in the contract.
bool tunes(const Program &program, const InstantiateRequest &request);

/// The first image that serves the request; null: none. If InstantiateRequest::elementBytes is not
/// 0, images of any type of that size serve it, provided the program has no buffers of other types
/// than T. `unit`: elements of the call per element of an image's n.
Result<const LibraryImage *> findImage(Library &library, const InstantiateRequest &request,
                                       uint64_t unit);

/// ImportedCollective::unit of the collective; empty: it was not imported.
std::optional<uint32_t> unitOf(const std::vector<ImportedCollective> &imported,
                               std::string_view collective);

/// Variant of unitOf() for the request's collective.
Result<std::optional<uint32_t>> unitOf(Library &library, const InstantiateRequest &request);

/// The sizes of calls with `unit` elements per element of n.
SizeClass inUnits(const SizeClass &sizes, uint64_t unit);

/// "8..15 in multiples of 4": n of the calls that the image serves, which counts in units.
std::string sizesInWords(const LibraryImage &image, uint32_t unit);

} // namespace colldsl
