// All people: their names, their spaces, and their ways to sign in.

import type { Entity, SpaceInfo } from '@smartspace/client';
import { useClient } from '@smartspace/react';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { everyPage } from '../../api/entities.ts';
import { hashOf } from '../../navigation/address.ts';
import { mayLeave } from '../../navigation/unsaved.ts';
import { wordsOf } from '../../ui/notices.tsx';
import { isolated } from '../../ui/visible.ts';
import { useActivity } from '../data/activity.ts';
import { usePages } from '../data/pages.ts';
import { useNameFilter } from '../frame/name_filter.tsx';
import { Loaded, More, Page, Part } from '../frame/page.tsx';
import { TableHead } from '../frame/table_head.tsx';
import { TextField } from '../save_form/fields.tsx';
import { SaveForm } from '../save_form/save_form.tsx';
import { EditPerson } from './edit_person.tsx';

const COLUMNS = ['Name', 'External id', 'Spaces', 'Made'];

export function People(): JSX.Element {
  const entities = usePages<Entity>('/v1/entities?limit=200');
  const { spaces, problem, reload } = useAllSpaces();
  const [editedId, setEditedId] = useState<string | null>(null);
  const people = entities.items.filter(({ type }) => type === 'human');
  const { found, isOn: isFiltered, field } = useNameFilter(people);
  useActivity(reload);
  // A page of the list may hold agents only, and a name may be on a later one.
  const isLookingOn = (people.length === 0 || isFiltered) && entities.hasMore && !entities.error;
  useEffect(() => {
    if (isLookingOn && !entities.isLoading) entities.more();
  }, [isLookingOn, entities.isLoading]);
  return (
    <Page title="People">
      <Part title="Add a person">
        <SaveForm
          request={{ method: 'POST', path: '/v1/entities' }}
          submit="Add the person"
          done="Added"
          label="Add a person"
          bodyWith={(body) => ({ ...body, type: 'human' })}
          onSaved={entities.reload}
        >
          <div class="columns">
            <TextField name="/name" label="Name" required />
            <TextField
              name="/externalId"
              label="External id (optional)"
              hint="Their id in your own directory: the sub of their tokens."
            />
          </div>
        </SaveForm>
      </Part>
      <Part title="Everyone">
        <p class="problem" role="alert">
          {problem}
        </p>
        <Loaded
          error={entities.error}
          isLoading={entities.isLoading || isLookingOn}
          isEmpty={people.length === 0}
          empty="There are no people yet. Add one above, or invite some to a space."
        >
          {field}
          <table class="list centered" aria-label="People">
            <TableHead columns={COLUMNS} />
            <tbody>
              {found.map((person) => (
                <Row
                  key={person.id}
                  person={person}
                  spaces={spaces}
                  isEdited={person.id === editedId}
                  onEdit={(isOpen) => {
                    const editor = document.querySelector('.edit-person');
                    if (!editor || mayLeave(editor)) setEditedId(isOpen ? person.id : null);
                  }}
                  onChanged={() => {
                    entities.reload();
                    reload();
                  }}
                />
              ))}
            </tbody>
          </table>
          <More pages={entities} />
        </Loaded>
      </Part>
      <Part title="How people sign in">
        <p class="about-tokens">
          Smartspace makes no tokens for people. Your backend or your identity provider signs one
          whose <code>sub</code> is the external id, and the person opens{' '}
          <code>{`${location.origin}/#token=…`}</code> with it. Without such a token, people join by
          the address of an invite, from the settings of a space, if this deployment allows guests.
        </p>
      </Part>
    </Page>
  );
}

interface RowProps {
  person: Entity;
  /** Null until they are loaded. */
  spaces: readonly SpaceInfo[] | null;
  isEdited: boolean;
  onEdit: (isOpen: boolean) => void;
  onChanged: () => void;
}

function Row({ person, spaces, isEdited, onEdit, onChanged }: RowProps) {
  const { id, name, externalId, createdAt, guestOf } = person;
  const own = spaces?.filter(({ members }) => members.some((member) => member.id === id)) ?? [];
  return (
    <>
      <tr>
        <th scope="row">
          <bdi>{name}</bdi> {guestOf ? <span class="badge">guest</span> : null}
        </th>
        <td data-label="External id">{externalId ?? '–'}</td>
        <td data-label="Spaces">
          {!spaces ? 'Loading…' : own.length === 0 ? 'none' : <SpaceLinks spaces={own} />}
        </td>
        <td data-label="Made">
          <time dateTime={createdAt}>{new Date(createdAt).toLocaleDateString()}</time>
        </td>
        <td>
          <div class="row-actions">
            <button
              type="button"
              aria-expanded={isEdited}
              aria-label={`Edit ${isolated(name)}`}
              onClick={() => onEdit(!isEdited)}
            >
              {isEdited ? 'Close' : 'Edit'}
            </button>
          </div>
        </td>
      </tr>
      {isEdited ? (
        <tr class="edited">
          <td colSpan={COLUMNS.length + 1}>
            <EditPerson
              person={person}
              own={own}
              others={spaces?.filter((space) => !own.includes(space)) ?? []}
              onChanged={onChanged}
            />
          </td>
        </tr>
      ) : null}
    </>
  );
}

const SpaceLinks = ({ spaces }: { spaces: readonly SpaceInfo[] }) => (
  <ul class="space-links">
    {spaces.map(({ id, name }) => (
      <li key={id}>
        <a href={hashOf(id)} dir="auto">
          {name}
        </a>
      </li>
    ))}
  </ul>
);

// All spaces with their members: the API has no list of the spaces of one person.
function useAllSpaces() {
  const client = useClient();
  const [spaces, setSpaces] = useState<readonly SpaceInfo[] | null>(null);
  const [problem, setProblem] = useState('');
  const [count, setCount] = useState(0);
  useEffect(() => {
    let isOver = false;
    everyPage<SpaceInfo>(client, '/v1/spaces').then(
      (found) => {
        if (isOver) return;
        setSpaces(found);
        setProblem('');
      },
      (error) => isOver || setProblem(`The spaces were not loaded: ${wordsOf(error)}`),
    );
    return () => {
      isOver = true;
    };
  }, [client, count]);
  return { spaces, problem, reload: () => setCount((before) => before + 1) };
}
