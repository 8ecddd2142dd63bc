// SPDX-License-Identifier: BSD-3-Clause
// What families of calls have on a communicator for all their calls.
#pragma once

#include <memory>
#include <typeinfo>
#include <utility>

namespace tonari {

class FamilyObject {
 public:
  virtual ~FamilyObject() = default;

 private:
  friend class FamilyObjects;
  // false: it goes when the program frees its communicator or ends the MPI, and may refer to what
  // it lies in.
  virtual bool stays() const { return true; }
  std::unique_ptr<FamilyObject> next_;
};

// One object of each type. Nothing here needs memory.
class FamilyObjects {
 public:
  template <class Object>
  Object* find() const {  // null: there is none yet
    for (FamilyObject* object = first_.get(); object; object = object->next_.get())
      if (typeid(*object) == typeid(Object)) return static_cast<Object*>(object);
    return nullptr;
  }
  template <class Object>
  Object& add(std::unique_ptr<Object> object) {
    object->FamilyObject::next_ = std::exchange(first_, nullptr);
    first_ = std::move(object);
    return static_cast<Object&>(*first_);
  }
  // The program leaves the communicator.
  void leave() {
    for (std::unique_ptr<FamilyObject>* at = &first_; *at;)
      if ((*at)->stays())
        at = &(*at)->next_;
      else
        *at = std::move((*at)->next_);
  }

 private:
  std::unique_ptr<FamilyObject> first_;
};

}  // namespace tonari
