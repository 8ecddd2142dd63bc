// SPDX-License-Identifier: BSD-3-Clause
// PetscSFCreate_Basic is no function of PETSc's interface, and what a star forest of that type
// keeps is in no header that is installed. But PETSc's list of types has it: it makes the star
// forest, and keeps its data. What it does for others, such as FetchAndOp, it does here, too.
#include "petsc/type.hpp"

#include <new>

#include "petsc/carrier.hpp"
#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

PetscErrorCode begin(PetscSF sf, Carrier& carrier, const Call& call, bool* begun) {
  PetscFunctionBegin;
  try {
    PetscCall(carrier.begin(sf, call, begun));
  } catch (const std::bad_alloc&) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "tonari has no memory for an exchange");
  }
  PetscFunctionReturn(success);
}

bool host(PetscMemType a, PetscMemType b) { return PetscMemTypeHost(a) && PetscMemTypeHost(b); }

// What basic does for good costs a few instructions more than basic alone: a look at the carrier,
// and a jump.
PetscErrorCode bcast_begin(PetscSF sf, MPI_Datatype unit, PetscMemType root_memory,
                           const void* roots, PetscMemType leaf_memory, void* leaves, MPI_Op op) {
  Carrier& carrier = *carrier_of(sf);
  if (carrier.passes_on(Way::bcast, unit, op))
    return (*carrier.basic().BcastBegin)(sf, unit, root_memory, roots, leaf_memory, leaves, op);
  const Call call{Way::bcast, unit, roots, leaves, op, host(root_memory, leaf_memory)};
  bool begun = false;
  PetscFunctionBegin;
  PetscCall(begin(sf, carrier, call, &begun));
  if (!begun)
    PetscCall((*carrier.basic().BcastBegin)(sf, unit, root_memory, roots, leaf_memory, leaves, op));
  PetscFunctionReturn(success);
}

PetscErrorCode bcast_end(PetscSF sf, MPI_Datatype unit, const void* roots, void* leaves,
                         MPI_Op op) {
  Carrier& carrier = *carrier_of(sf);
  if (carrier.idle()) return (*carrier.basic().BcastEnd)(sf, unit, roots, leaves, op);
  bool ended = false;
  PetscFunctionBegin;
  PetscCall(carrier.end(sf, {Way::bcast, unit, roots, leaves, op, true}, &ended));
  if (!ended) PetscCall((*carrier.basic().BcastEnd)(sf, unit, roots, leaves, op));
  PetscFunctionReturn(success);
}

PetscErrorCode reduce_begin(PetscSF sf, MPI_Datatype unit, PetscMemType leaf_memory,
                            const void* leaves, PetscMemType root_memory, void* roots, MPI_Op op) {
  Carrier& carrier = *carrier_of(sf);
  if (carrier.passes_on(Way::reduce, unit, op))
    return (*carrier.basic().ReduceBegin)(sf, unit, leaf_memory, leaves, root_memory, roots, op);
  const Call call{Way::reduce, unit, leaves, roots, op, host(root_memory, leaf_memory)};
  bool begun = false;
  PetscFunctionBegin;
  PetscCall(begin(sf, carrier, call, &begun));
  if (!begun)
    PetscCall(
        (*carrier.basic().ReduceBegin)(sf, unit, leaf_memory, leaves, root_memory, roots, op));
  PetscFunctionReturn(success);
}

PetscErrorCode reduce_end(PetscSF sf, MPI_Datatype unit, const void* leaves, void* roots,
                          MPI_Op op) {
  Carrier& carrier = *carrier_of(sf);
  if (carrier.idle()) return (*carrier.basic().ReduceEnd)(sf, unit, leaves, roots, op);
  bool ended = false;
  PetscFunctionBegin;
  PetscCall(carrier.end(sf, {Way::reduce, unit, leaves, roots, op, true}, &ended));
  if (!ended) PetscCall((*carrier.basic().ReduceEnd)(sf, unit, leaves, roots, op));
  PetscFunctionReturn(success);
}

PetscErrorCode reset(PetscSF sf) {
  Carrier& carrier = *carrier_of(sf);
  PetscFunctionBegin;
  PetscCheck(carrier.idle(), PetscObjectComm(reinterpret_cast<PetscObject>(sf)),
             PETSC_ERR_ARG_WRONGSTATE, "Outstanding operation has not been completed");
  carrier.begin_anew();
  if (carrier.basic().Reset) PetscCall((*carrier.basic().Reset)(sf));
  PetscFunctionReturn(success);
}

PetscErrorCode destroy(PetscSF sf) {
  const auto basic_destroy = carrier_of(sf)->basic().Destroy;
  PetscFunctionBegin;
  if (basic_destroy) PetscCall((*basic_destroy)(sf));  // which may reset it
  remove_carrier(sf);
  PetscFunctionReturn(success);
}

PetscErrorCode view(PetscSF sf, PetscViewer viewer) {
  PetscBool ascii = PETSC_FALSE;
  PetscFunctionBegin;
  if (carrier_of(sf)->basic().View) PetscCall((*carrier_of(sf)->basic().View)(sf, viewer));
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(carrier_of(sf)->view(viewer));
  PetscFunctionReturn(success);
}

PetscErrorCode read_settings(PetscSF sf, Carrier& carrier) {
  const char* const prefix = reinterpret_cast<PetscObject>(sf)->prefix;
  PetscBool races = PETSC_TRUE;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(nullptr, prefix, "-sf_tonari_race", &races, nullptr));
  PetscCall(
      PetscOptionsGetInt(nullptr, prefix, "-sf_tonari_connect", &carrier.connects_at, nullptr));
  carrier.races = races;
  PetscFunctionReturn(success);
}

PetscErrorCode duplicate(PetscSF sf, PetscSFDuplicateOption option, PetscSF made);

// sf: of the type basic, whatever its name.
PetscErrorCode stand_in_front(PetscSF sf) {
  PetscFunctionBegin;
  Carrier& carrier = add_carrier(sf, *sf->ops);
  PetscCall(read_settings(sf, carrier));
  sf->ops->Reset = reset;
  sf->ops->Destroy = destroy;
  sf->ops->View = view;
  sf->ops->Duplicate = duplicate;
  sf->ops->BcastBegin = bcast_begin;
  sf->ops->BcastEnd = bcast_end;
  sf->ops->ReduceBegin = reduce_begin;
  sf->ops->ReduceEnd = reduce_end;
  PetscFunctionReturn(success);
}

// VecScatterRemap, by which DMDA makes its scatters from local to local vectors out of copies of
// others, takes basic by name only. So scatters of vectors have that name; all else is as here.
PetscErrorCode name_as_basic(PetscSF sf) {
  PetscFunctionBegin;
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(sf), PETSCSFBASIC));
  PetscFunctionReturn(success);
}

PetscErrorCode duplicate(PetscSF sf, PetscSFDuplicateOption option, PetscSF made) {
  const Carrier& carrier = *carrier_of(sf);
  PetscFunctionBegin;
  if (carrier.basic().Duplicate) PetscCall((*carrier.basic().Duplicate)(sf, option, made));
  if (!carrier_of(made)) PetscCall(stand_in_front(made));
  carrier_of(made)->take_settings(carrier);
  if (option == PETSCSF_DUPLICATE_GRAPH && sf->vscat.bs > 0) PetscCall(name_as_basic(made));
  PetscFunctionReturn(success);
}

}  // namespace

PetscErrorCode create(PetscSF sf) {
  PetscErrorCode (*basic)(PetscSF) = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PetscSFList, PETSCSFBASIC, &basic));
  PetscCheck(basic, PETSC_COMM_SELF, PETSC_ERR_PLIB, "this PETSc has no PetscSF of type basic");
  PetscCall((*basic)(sf));
  PetscCall(stand_in_front(sf));
  if (sf->allow_multi_leaves) PetscCall(name_as_basic(sf));  // VecScatterCreate made it
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
